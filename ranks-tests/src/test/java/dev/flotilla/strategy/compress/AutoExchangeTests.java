package dev.flotilla.strategy.compress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.collective.Link;
import dev.flotilla.data.Batch;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Adam;
import dev.flotilla.optim.Momentum;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * An exchange that chooses itself: by which numbers, how often, and what a change leaves behind.
 */
class AutoExchangeTests {

  private static final ColouredPoints POINTS = new ColouredPoints(4000, 8, 4);

  /** ResNet-18: 11.15 M compressed gradients, 25 k others. */
  private static final LinkCost RESNET = new LinkCost(2, 44_600_000, 98_600, 89_200);

  private static ExchangeMode best(double megabytesPerSecond) {
    var load = new Workload(0.12, 6, RESNET.elements(), 0.03, 0.02);
    // Two ranks: each byte of a tensor is sent once.
    var link = new Link(0.0005, 1 / (megabytesPerSecond * 1e6));
    var seconds = load.predict(EnumSet.allOf(ExchangeMode.class), link, RESNET);
    seconds.replaceAll((_, exchange) -> 0.2 + exchange);
    var chooser = new Chooser();
    chooser.decide(seconds);
    return chooser.current();
  }

  @Test
  void theBestOfTheThreeDependsOnTheLink() {
    assertThat(best(2500)).isEqualTo(ExchangeMode.DENSE);
    assertThat(best(12)).isEqualTo(ExchangeMode.SPARSE);
    assertThat(best(119)).isEqualTo(ExchangeMode.SPARSE);
  }

  @Test
  void halfTheBytesWinWhereChoosingCostsTooMuch() {
    var load = new Workload(0, 1, RESNET.elements(), 0.01, 0.3);
    var seconds =
        load.predict(EnumSet.allOf(ExchangeMode.class), new Link(0.0005, 1 / 119e6), RESNET);
    var chooser = new Chooser();
    assertThat(chooser.decide(seconds)).isTrue();
    assertThat(chooser.current()).isEqualTo(ExchangeMode.HALF);
  }

  private static Map<ExchangeMode, Double> seconds(double dense, double half, double sparse) {
    Map<ExchangeMode, Double> seconds = new EnumMap<>(ExchangeMode.class);
    seconds.put(ExchangeMode.DENSE, dense);
    seconds.put(ExchangeMode.HALF, half);
    seconds.put(ExchangeMode.SPARSE, sparse);
    return seconds;
  }

  @Test
  void aChangeMustPromiseATenthTwiceInARow() {
    var chooser = new Chooser();
    assertThat(chooser.decide(seconds(1, 0.95, 0.91))).isFalse();
    assertThat(chooser.decide(seconds(1, 0.95, 0.5))).isFalse();
    assertThat(chooser.decide(seconds(1, 0.95, 1))).isFalse();
    assertThat(chooser.decide(seconds(1, 0.95, 0.5))).isFalse();
    assertThat(chooser.decide(seconds(1, 0.95, 0.5))).isTrue();
    assertThat(chooser.current()).isEqualTo(ExchangeMode.SPARSE);
    assertThat(chooser.decide(seconds(0.3, 0.6, 0.5))).isFalse();
    assertThat(chooser.decide(seconds(0.3, 0.6, 0.5))).isTrue();
    assertThat(chooser.current()).isEqualTo(ExchangeMode.DENSE);
  }

  /** Says what a test wants instead of measuring: a slow link for a while, then a fast one. */
  private static final class Script extends Meter {
    private final dev.flotilla.collective.Collective collective;
    private int looks;

    Script(dev.flotilla.collective.Collective collective) {
      super(collective, ComputeDevice.CPU);
      this.collective = collective;
    }

    @Override
    double[] largest(double... numbers) {
      assertThat(collective.size()).isEqualTo(2);
      double[] common = super.largest(numbers);
      // The step as it would be over such a link; nothing of this hangs on the clock.
      common[0] = looks < 2 ? 1.0 : 0.5;
      common[1] = 0;
      common[3] = looks < 2 ? 1e-9 : 0.4;
      return common;
    }

    @Override
    Link link() {
      looks++;
      return looks < 2 ? new Link(1e-4, 1e-3) : new Link(1e-4, 1e-12);
    }

    @Override
    double convert() {
      return 1;
    }

    @Override
    double choose(Dgc settings, Rule rule) {
      return 1e-9;
    }
  }

  private record Scripted(Dgc dgc) implements Strategy {
    @Override
    public String key() {
      return "exchange";
    }

    @Override
    public List<Claim> claims() {
      return List.of(new Claim(Phase.EXCHANGE, "scripted"), new Claim(Phase.UPDATE, ""));
    }

    @Override
    public Workers workers(StepContext context) {
      var compression = new Compression(dgc, context, false);
      var collective = context.collective();
      return new Workers()
          .exchange(
              new AdaptiveExchange(
                  compression,
                  collective,
                  new Script(collective),
                  new LinkCost(2, 4 * 192, 4 * 20, 8),
                  context.measured()))
          .update(new CompressedUpdate(compression));
    }

    @Override
    public Set<Property> properties() {
      return dgc.properties();
    }
  }

  private record Outcome(List<Snapshot> weights, List<String> said) {}

  private static Outcome train(World world, int steps, Strategy... techniques) {
    List<String> said = new ArrayList<>();
    List<Snapshot> weights = new ArrayList<>();
    var builder =
        Trainer.on(world)
            .model(new Mlp(8, List.of(16), 4))
            .optimizer(new Momentum(0.02, 0.9))
            .strategy(techniques)
            .threads(1)
            .events(
                event -> {
                  if (event instanceof TrainingEvent.Measured(var text)) {
                    said.add(text);
                  }
                });
    try (var trainer = builder.build()) {
      for (int i = 0; i < steps; i++) {
        try (var _ = TensorScope.open()) {
          trainer.step(batch(i, world.rank()));
        }
        weights.add(Snapshot.of(trainer));
      }
    }
    return new Outcome(weights, said);
  }

  private static Batch batch(int step, int rank) {
    return POINTS.load(IntStream.range(0, 8).map(i -> (step * 16 + rank * 8 + i) % 4000).toArray());
  }

  /**
   * With everything sent and no masking, compression is momentum; so a run that changes to it and
   * back must follow plain momentum all the way, if nothing is lost at either change.
   */
  @Test
  void nothingIsLostWhenItChangesToCompressionAndBack() {
    var dgc = new Dgc(0, 1, List.of(0.0)).minNumel(32);
    var changing = Ranks.of(2).callWorlds(world -> train(world, 60, new Scripted(dgc)));
    var plain = Ranks.of(2).callWorlds(world -> train(world, 60));
    assertThat(changing.getFirst().said())
        .hasSize(2)
        .satisfies(
            said -> {
              assertThat(said.get(0)).startsWith("exchange: dgc; per update: dense 1000.0 ms");
              assertThat(said.get(1)).startsWith("exchange: dense; per update:");
            });
    for (int i = 0; i < 60; i++) {
      var ours = changing.get(0).weights().get(i);
      assertThat(ours.isSameAs(changing.get(1).weights().get(i))).isTrue();
      assertThat(ours.relativeDistance(plain.getFirst().weights().get(i)))
          .as("update %d", i)
          .isLessThan(2e-5);
    }
  }

  /** Half of the entries wait in residuals when it changes back; then they arrive. */
  @Test
  void whatRanksHaveKeptIsSentWhenCompressionIsLeft() {
    var dgc = new Dgc(0, 1, List.of(0.5)).minNumel(32);
    var changing = Ranks.of(2).callWorlds(world -> train(world, 60, new Scripted(dgc)));
    for (int i = 0; i < 60; i++) {
      assertThat(changing.get(0).weights().get(i).isSameAs(changing.get(1).weights().get(i)))
          .isTrue();
    }
    var plain = Ranks.of(2).callWorlds(world -> train(world, 60)).getFirst();
    assertThat(changing.getFirst().weights().getLast().relativeDistance(plain.weights().getLast()))
        .isLessThan(0.2);
  }

  @Test
  void itMeasuresByItselfAndRanksAgree() {
    var outcomes = Ranks.of(2).callWorlds(world -> train(world, 30, new AutoExchange()));
    assertThat(outcomes.getFirst().said()).isNotEmpty();
    assertThat(outcomes.get(0).said().size()).isEqualTo(outcomes.get(1).said().size());
    assertThat(outcomes.get(0).weights().getLast().isSameAs(outcomes.get(1).weights().getLast()))
        .isTrue();
  }

  @Test
  void otherOptimizersAreRefused() {
    assertThatThrownBy(
            () ->
                Trainer.on(World.solo())
                    .model(new Mlp(8, List.of(16), 4))
                    .optimizer(new Adam(0.1))
                    .strategy(new AutoExchange())
                    .plan())
        .hasMessageContaining("exchange: auto may choose dgc")
        .hasMessageContaining("wire: bf16");
  }
}
