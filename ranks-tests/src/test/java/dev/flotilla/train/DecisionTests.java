package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.checkpoint.Position;
import dev.flotilla.checkpoint.Restorer;
import dev.flotilla.checkpoint.SavedCheckpoint;
import dev.flotilla.config.Catalogue;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.RunConfig;
import dev.flotilla.data.BatchSource;
import dev.flotilla.metric.ConfusionMatrix;
import dev.flotilla.metric.F1Score;
import dev.flotilla.metric.Perplexity;
import dev.flotilla.optim.Momentum;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A fit that evaluations decide about ends, saves and resumes alike on all ranks. */
class DecisionTests {

  private static final ColouredPoints POINTS = new ColouredPoints(45, 8, 4);

  /** F1 rises by a few hundredths an evaluation at first, and by less later. */
  private static final StopWhen RISES_NO_MORE = StopWhen.noBetter("f1").patience(2).minDelta(0.02);

  private final List<TrainingEvent> events = new CopyOnWriteArrayList<>();
  @TempDir Path folder;

  private TrainerBuilder builder(World world) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(8), 4))
        .optimizer(new Momentum(0.05, 0.9))
        .threads(1)
        .metrics(new F1Score(), new Perplexity(), new ConfusionMatrix())
        .events(event -> listen(world, event))
        .loop(LoopSettings.defaults().evaluateOn(POINTS).each(Every.updates(3)));
  }

  private void listen(World world, TrainingEvent event) {
    if (world.isLeader()) {
      events.add(event);
    }
  }

  private static BatchSource source() {
    return BatchSource.global(POINTS, 9).shuffled(7);
  }

  private record Outcome(Snapshot state, long updates, Optional<Evaluation> last, Object summary) {}

  private Outcome fit(TrainerBuilder builder, Optional<Path> from) {
    try (var trainer = builder.build()) {
      from.ifPresent(path -> assertThat(trainer.resume(path)).isPresent());
      var result = trainer.fit(source(), 30);
      var summary = new HashMap<>(trainer.metrics());
      summary.remove("exchange"); // times
      return new Outcome(Snapshot.of(trainer), trainer.updates(), result.evaluation(), summary);
    }
  }

  @Test
  void allRanksStopAtTheSameUpdate() throws Exception {
    var alone = fit(builder(World.solo()).stopWhen(RISES_NO_MORE), Optional.empty());
    assertThat(alone.updates()).isBetween(9L, 140L);
    assertThat(events)
        .filteredOn(it -> it instanceof TrainingEvent.Noted)
        .singleElement()
        .asString()
        .contains("stopped early after update " + alone.updates() + ": f1 was no better in 2");
    for (int ranks = 2; ranks <= 3; ranks++) {
      var several =
          Ranks.of(ranks)
              .callWorlds(
                  world -> fit(builder(world).stopWhen(RISES_NO_MORE), Optional.empty()).updates());
      assertThat(several).containsOnly(alone.updates());
    }
  }

  private TrainerBuilder saving(World world, String name) {
    return builder(world)
        .stopWhen(RISES_NO_MORE)
        .checkpoints(CheckpointSettings.in(folder.resolve(name)).every(2).best("perplexity"));
  }

  /** One update after the first evaluation, and at the third one. */
  @ParameterizedTest
  @ValueSource(longs = {3, 8})
  void whatWasSeenIsResumedExactly(long microStep) throws Exception {
    var whole = fit(saving(World.solo(), "whole"), Optional.empty());
    var expected = evaluations();
    events.clear();
    var name = folder.resolve("stopped");
    Ranks.of(2)
        .callWorlds(
            world -> {
              try (var trainer = saving(world, "stopped").build()) {
                trainer.link(new StopsAfter(microStep));
                assertThatThrownBy(() -> trainer.fit(source(), 30))
                    .isInstanceOf(StoppedException.class);
                return trainer.updates();
              }
            });
    var resumed =
        Ranks.of(2)
            .callWorlds(world -> fit(saving(world, "stopped"), Optional.of(name)))
            .getFirst();
    assertThat(resumed.updates()).isEqualTo(whole.updates());
    assertThat(evaluations()).isEqualTo(expected);
    // Two ranks round otherwise than one, so that values are compared on one.
    assertThat(resumed.last().orElseThrow().metrics().get("confusion_matrix"))
        .isEqualTo(whole.last().orElseThrow().metrics().get("confusion_matrix"));
  }

  private List<Long> evaluations() {
    List<Long> updates = new ArrayList<>();
    events.forEach(
        event -> {
          if (event instanceof TrainingEvent.Evaluated evaluated) {
            updates.add(evaluated.update());
          }
        });
    return updates;
  }

  @Test
  void aResumedRunIsTheSameToTheBit() {
    var whole = fit(saving(World.solo(), "whole"), Optional.empty());
    try (var trainer = saving(World.solo(), "stopped").build()) {
      trainer.link(new StopsAfter(10));
      assertThatThrownBy(() -> trainer.fit(source(), 30)).isInstanceOf(StoppedException.class);
    }
    var resumed = fit(saving(World.solo(), "stopped"), Optional.of(folder.resolve("stopped")));
    assertThat(resumed.state().isSameAs(whole.state())).isTrue();
    assertThat(resumed.summary()).isEqualTo(whole.summary());
    // One that has ended takes up its last evaluation, and stays where it is.
    var again = fit(saving(World.solo(), "stopped"), Optional.of(folder.resolve("stopped")));
    assertThat(again.updates()).isEqualTo(whole.updates());
    assertThat(again.last()).isEqualTo(whole.last());
  }

  @Test
  void theBestCheckpointIsKeptBesideTheNewest() {
    // Perplexity falls all the time; the loss of a rate that is far too high does not.
    try (var trainer =
        builder(World.solo())
            .optimizer(new Momentum(2, 0.9))
            .checkpoints(
                CheckpointSettings.in(folder)
                    .every(Every.end())
                    .keep(1)
                    .async(false)
                    .onError(CheckpointSettings.OnError.STOP)
                    .best("loss"))
            .build()) {
      trainer.fit(source(), 12);
      var losses = new HashMap<Long, Double>();
      events.forEach(
          event -> {
            if (event instanceof TrainingEvent.Evaluated evaluated) {
              losses.put(evaluated.update(), evaluated.loss());
            }
          });
      long best =
          losses.entrySet().stream().min(Map.Entry.comparingByValue()).orElseThrow().getKey();
      assertThat(best).isLessThan(60);
      assertThat(Restorer.candidates(folder).stream().map(SavedCheckpoint::positionOf))
          .extracting(Position::updates)
          .containsExactly(60L, best);
      assertThat(trainer.metrics().get("best"))
          .isEqualTo(
              Map.of(
                  "metric",
                  "loss",
                  "value",
                  losses.get(best),
                  "update",
                  best,
                  "checkpoint",
                  new Position(best, best).folderName()));
    }
  }

  private static RunConfig recipe(Map<String, Object> more) {
    Map<String, Object> values = new HashMap<>();
    values.put("model", "mlp");
    values.put("data", "digits");
    values.put("batch", 64);
    values.put("optimizer", Map.of("name", "sgd", "lr", 0.1));
    values.putAll(more);
    return RunConfig.read(Recipe.of("test", values), Catalogue.installed());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "f1 | 0 | epoch | stop_when.patience: must be at least 1, but was 0",
        "f1 | 1 | epoch | stop_when.metric: 'f1' is not measured (there are loss, accuracy",
        "acuracy | 1 | epoch | 'acuracy' is not measured; did you mean 'accuracy'?",
        "loss | 1 | end | stop_when: needs evaluations before the end",
      })
  void mistakesAreSaidBeforeTheRun(String metric, int patience, String every, String message) {
    Map<String, Object> stop = Map.of("metric", metric, "patience", patience);
    assertThatThrownBy(
            () ->
                new ConfiguredRun(
                    recipe(Map.of("stop_when", stop, "eval", Map.of("every", every))),
                    World.solo()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(message);
  }

  @Test
  void decisionsNeedSomethingToLookAt() {
    assertThatThrownBy(
            () ->
                new ConfiguredRun(recipe(Map.of("checkpoint", Map.of("best", "f2"))), World.solo()))
        .hasMessageContaining("checkpoint.best: 'f2' is not measured");
    assertThatThrownBy(() -> recipe(Map.of("stop_when", Map.of("metric", "loss", "mod", "min"))))
        .hasMessageContaining("did you mean 'mode'?");
    var builder = builder(World.solo()).loop(LoopSettings.defaults()).stopWhen(RISES_NO_MORE);
    assertThatThrownBy(() -> fit(builder, Optional.empty()))
        .hasMessageContaining("stop_when: looks at evaluations, but the loop has no test data");
  }

  @Test
  void aValueThatIsNoNumberIsNeverBetter() {
    var best = new BestValue();
    var here = new Position(1, 1);
    assertThat(best.see(Double.NaN, true, 0, here)).isFalse();
    assertThat(best.see(1, true, 0, here)).isTrue();
    assertThat(best.see(Double.NaN, true, 0, here)).isFalse();
    assertThat(best.see(1.05, true, 0.1, here)).isFalse();
    assertThat(best.since()).isEqualTo(2);
    assertThat(best.see(0.9, false, 0.1, here)).isFalse();
    assertThat(best.see(0.8, false, 0.1, here)).isTrue();
  }
}
