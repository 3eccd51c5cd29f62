package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.checkpoint.CheckpointException;
import dev.flotilla.checkpoint.Restorer;
import dev.flotilla.config.Catalogue;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.RunConfig;
import dev.flotilla.config.SavedRun;
import dev.flotilla.config.SavedWeights;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.Precision;
import dev.flotilla.optim.Momentum;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.predict.ModelExport;
import dev.flotilla.predict.Predictor;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.ema.Ema;
import dev.flotilla.strategy.localsgd.LocalSgd;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.NormedPerceptron;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.world.Rendezvous;
import dev.flotilla.world.World;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A moving average is evaluated, saved, resumed and loaded beside the weights of its run. */
class EmaRunTests {

  private static final ColouredPoints POINTS = new ColouredPoints(96, 8, 4);

  private final List<String> notes = new CopyOnWriteArrayList<>();
  @TempDir Path folder;

  private TrainerBuilder trainer(World world, Strategy... techniques) {
    return Trainer.on(world)
        .model(new NormedPerceptron(8, 16, 4))
        .optimizer(new Momentum(0.05, 0.9))
        .strategy(techniques)
        .threads(1)
        .checkpoints(CheckpointSettings.in(folder))
        .events(this::listen)
        .loop(LoopSettings.defaults().evaluateOn(POINTS).each(Every.updates(4)));
  }

  private void listen(TrainingEvent event) {
    if (event instanceof TrainingEvent.Noted(var text)) {
      notes.add(text);
    }
  }

  private Snapshot fit(TrainerBuilder builder, World world, int epochs) {
    try (var trainer = builder.build()) {
      if (!Restorer.candidates(folder).isEmpty()) {
        assertThat(trainer.resume(folder)).isPresent();
      }
      trainer.fit(POINTS.batches(12 / world.size()).shuffled(1), epochs);
      trainer.averageStatistics();
      return Snapshot.of(trainer).with("ema ", Snapshot.ofEma(trainer));
    }
  }

  /** Between two averages of local SGD too, where each rank has its own average of its own. */
  @ParameterizedTest
  @CsvSource({"1, false", "2, false", "2, true", "3, true"})
  void aResumedRunHasTheSameAverageToTheBit(int ranks, boolean isLocal, @TempDir Path other) {
    var techniques =
        isLocal
            ? new Strategy[] {new Ema(0.9), new LocalSgd(5)}
            : new Strategy[] {new Ema(0.9).withWarmup()};
    var whole =
        Ranks.of(ranks)
            .callWorlds(
                world ->
                    fit(
                        trainer(world, techniques).checkpoints(CheckpointSettings.in(other)),
                        world,
                        3));
    Ranks.of(ranks)
        .callWorlds(
            world -> {
              try (var trainer = trainer(world, techniques).build()) {
                trainer.link(new StopsAfter(12));
                var source = POINTS.batches(12 / world.size()).shuffled(1);
                assertThatThrownBy(() -> trainer.fit(source, 3))
                    .isInstanceOf(StoppedException.class);
                return trainer.updates();
              }
            });
    var resumed = Ranks.of(ranks).callWorlds(world -> fit(trainer(world, techniques), world, 3));
    assertThat(resumed).allMatch(each -> each.isSameAs(whole.getFirst()));
  }

  @Test
  void aCheckpointWithoutOneStartsItFromTheWeights() {
    try (var trainer = trainer(World.solo()).build()) {
      trainer.fit(POINTS.batches(12), 1);
    }
    try (var trainer = trainer(World.solo(), new Ema(0.9)).build()) {
      assertThat(trainer.resume(folder)).isPresent();
      assertThat(notes)
          .contains("the checkpoint holds no ema: it starts anew from the weights")
          .anyMatch(
              note -> note.contains("strategy.ema was not set when the checkpoint was saved"));
      assertThat(Snapshot.ofEma(trainer).isSameAs(Snapshot.of(trainer))).isTrue();
    }
  }

  @Test
  void takingItAwayFromARunIsRefused() {
    fit(trainer(World.solo(), new Ema(0.9)), World.solo(), 1);
    try (var trainer = trainer(World.solo()).build()) {
      assertThatThrownBy(() -> trainer.resume(folder))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining(
              "strategy.ema was Ema when the checkpoint was saved and is not set now");
    }
  }

  @Test
  void whatTheRunIsTooShortForIsSaid() {
    fit(trainer(World.solo(), new Ema(0.9).startingAfter(7).each(3)), World.solo(), 1);
    assertThat(notes)
        .contains(
            "ema averages first after update 9, but the run ends after 8: it stays what the"
                + " weights are (lower ema.start or ema.every)");
    assertThatThrownBy(
            () -> SavedRun.model(Restorer.candidates(folder).getFirst(), SavedWeights.EMA))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("holds no moving average of the weights");
    notes.clear();
    try (var trainer = trainer(World.solo(), new Ema(0.9)).build()) {
      trainer.plannedUpdates(10);
      assertThat(notes).isEmpty();
      trainer.plannedUpdates(9);
      assertThat(notes)
          .contains(
              "ema with decay 0.9 looks back over about 10 averagings, but the run makes 9: the"
                  + " first weights make up most of it (lower ema.decay or set ema.warmup: true)");
    }
  }

  /** The average of a rate that is far too high gets better for longer than the weights do. */
  @Test
  void allRanksStopByItAtTheSameUpdate() {
    var stopped =
        Stream.of(1, 2, 3)
            .flatMap(
                ranks ->
                    Ranks.of(ranks)
                        .callWorlds(
                            world -> {
                              try (var trainer =
                                  trainer(world, new Ema(0.5))
                                      .checkpoints(null)
                                      .stopWhen(new StopWhen("ema/loss", null, 1, 0.02))
                                      .build()) {
                                trainer.fit(POINTS.batches(12 / world.size()).shuffled(1), 30);
                                return trainer.updates();
                              }
                            })
                        .stream())
            .toList();
    assertThat(stopped).hasSize(6).containsOnly(stopped.getFirst());
    assertThat(stopped.getFirst()).isBetween(8L, 200L);
  }

  private static RunConfig recipe(Map<String, Object> more) {
    Map<String, Object> values = new HashMap<>();
    values.put("model", Map.of("name", "resnet18", "classes", 5, "width", 4, "stem", "cifar"));
    values.put(
        "data",
        Map.of(
            "name", "synthetic-images", "side", 8, "classes", 5, "samples", 24, "test_samples", 9));
    values.put("global_batch", 6);
    values.put("epochs", 2);
    values.put("device", "cpu");
    values.put("threads", 1);
    values.put("optimizer", Map.of("name", "momentum", "lr", 0.05));
    values.putAll(more);
    return RunConfig.read(Recipe.of("test", values), Catalogue.installed());
  }

  /** With statistics of batches, which every rank has of its own. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void theFileHoldsWhatWasEvaluated(int ranks) {
    var config = recipe(Map.of("ema", Map.of("decay", 0.5)));
    var run = folder.resolve("run");
    var summary =
        Ranks.of(ranks)
            .callWorlds(world -> new ConfiguredRun(config, world).run(run, _ -> {}))
            .getFirst();
    assertThat(summary.get("ema_sha256"))
        .isEqualTo(SavedRun.weightsDigest(run, SavedWeights.EMA).orElseThrow())
        .isNotEqualTo(summary.get("weights_sha256"));
    var average = SavedRun.evaluate(run, SavedWeights.EMA, config, World.solo());
    var last = (Map<?, ?>) Objects.requireNonNull(summary.get("metrics"));
    double loss = (Double) Objects.requireNonNull(last.get("ema/loss"));
    // Ranks add up halves of the samples in float32, which rounds at 6e-8 of the sum.
    assertThat(average.loss()).isCloseTo(loss, within(1e-6 * loss));
    assertThat(average.loss()).isNotEqualTo(summary.get("loss"));
    // It compares the file with the digest in the summary.
    ModelExport.of(run, SavedWeights.EMA).toSafetensors(folder.resolve("export.safetensors"));
    var checkpoint = Restorer.candidates(run.resolve("checkpoints")).getFirst();
    for (var place : List.of(run, checkpoint)) {
      try (var live = Predictor.load(place, DeviceChoice.CPU);
          var other = Predictor.load(place, SavedWeights.EMA, DeviceChoice.CPU)) {
        var test = config.data().test();
        assertThat(other.predict(test, 0, 1).getFirst().outputs())
            .isNotEqualTo(live.predict(test, 0, 1).getFirst().outputs());
      }
    }
  }

  /** Slices are those of the optimizer: with two ranks, half of the parameters each. */
  @Test
  void thePlanCountsItsMemory() {
    var plain = new ConfiguredRun(recipe(Map.of()), World.solo());
    var averaged = new ConfiguredRun(recipe(Map.of("ema", Map.of())), World.solo());
    long parameters =
        BoundModel.layoutOf(plain.config().model(), Precision.FLOAT32, _ -> false).bytes();
    assertThat(averaged.memory().arenaBytes() - plain.memory().arenaBytes()).isEqualTo(parameters);
    var two = new World(0, 2, 0, 2, 0, 1, new Rendezvous.SharedFile(folder));
    for (int stage = 1; stage <= 3; stage++) {
      long with = ofStage(recipe(Map.of("ema", Map.of())), two, stage);
      long without = ofStage(recipe(Map.of()), two, stage);
      assertThat(with - without).isBetween(parameters / 2, parameters / 2 + 4096);
    }
  }

  private static long ofStage(RunConfig config, World world, int stage) {
    return new ConfiguredRun(config, world).memory().byStage().get(stage).total();
  }

  @Test
  void aRecipeMaySayNothingOrNameItsValues() {
    var named = Map.<String, Object>of("metric", "ema/accuracy");
    assertThat(recipe(Map.of("ema", Map.of())).techniques()).contains(new Ema(0.999));
    assertThat(
            new ConfiguredRun(recipe(Map.of("ema", Map.of(), "stop_when", named)), World.solo())
                .plan())
        .isNotNull();
    assertThatThrownBy(() -> new ConfiguredRun(recipe(Map.of("stop_when", named)), World.solo()))
        .hasMessageContaining("stop_when.metric: 'ema/accuracy' is not measured");
    assertThatThrownBy(() -> recipe(Map.of("ema", Map.of("decay", 1.0))))
        .hasMessageContaining("ema.decay: must be above 0 and below 1, but was 1.0");
    var run = folder.resolve("none");
    new ConfiguredRun(recipe(Map.of("epochs", 1)), World.solo()).run(run, _ -> {});
    assertThatThrownBy(() -> Predictor.load(run, SavedWeights.EMA, DeviceChoice.CPU))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("its run has no ema, or had not begun it; use the live weights");
  }
}
