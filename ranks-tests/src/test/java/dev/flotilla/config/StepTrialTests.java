package dev.flotilla.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.config.StepTrial.Length;
import dev.flotilla.config.StepTrial.Result;
import dev.flotilla.world.World;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Trials say what a rank of several would send, by the formulas of the documents. */
class StepTrialTests {

  /** Elements of LeNet-5's arena, with gaps; three more carry loss and count. */
  private static final long ELEMENTS = 61_760;

  private static Result trial(int ranks, String strategy) {
    var recipe =
        """
        model: lenet5
        data: digits
        batch: 8
        threads: 1
        optimizer: {name: momentum, lr: 0.01}
        strategy: {%s}
        """
            .formatted(strategy);
    var config = RunConfig.read(Recipe.parse("test", recipe), Catalogue.installed());
    var run = new ConfiguredRun(config, World.solo());
    return new StepTrial(run, 8, Length.ofUpdates(2, 2, 4)).pretending(ranks);
  }

  @Test
  void aDenseExchangeSendsTheRingsBytes() {
    var two = trial(2, "").sent();
    assertThat(two.reduced()).isEqualTo(4.0 * (ELEMENTS + 3));
    assertThat(two.messages()).isEqualTo(2);
    assertThat(two.gathered() + two.scattered()).isZero();
    // 2 (n - 1) / n of it, in 2 (n - 1) messages.
    var four = trial(4, "").sent();
    assertThat(four.reduced()).isEqualTo(1.5 * 4 * (ELEMENTS + 3));
    assertThat(four.messages()).isEqualTo(6);
  }

  @Test
  void mergedMicroStepsSendOnce() {
    var merged = trial(2, "gradient_merge: {k_steps: 4}");
    assertThat(merged.microSteps()).isEqualTo(4);
    assertThat(merged.sent().reduced()).isEqualTo(4.0 * (ELEMENTS + 3));
  }

  @Test
  void localStepsSendOncePerInterval() {
    assertThat(trial(2, "localsgd: {k_steps: 4}").sent().reduced())
        .isBetween(4.0 * ELEMENTS / 4, 4.0 * ELEMENTS / 4 + 200);
  }

  @Test
  void shardingScattersSumsAndGathersParameters() {
    var sent = trial(2, "sharding: {stage: 1}").sent();
    // Half of the arena each, up to slices that begin at multiples of 16.
    assertThat(sent.scattered()).isCloseTo(2.0 * ELEMENTS, within(4.0 * 16 * 10));
    assertThat(sent.gathered()).isCloseTo(2.0 * ELEMENTS, within(4.0 * 16 * 10));
    var third = trial(2, "sharding: {stage: 3}").sent();
    // The last segment is still there when backward begins.
    assertThat(third.gathered()).isBetween(0.98 * 4 * ELEMENTS, 4.0 * ELEMENTS);
    // Half of the first convolution, 6 channels of 5 x 5 and their offsets.
    assertThat(third.ahead()).isEqualTo(4 * 156 / 2.0);
    assertThat(trial(2, "").sent().ahead()).isZero();
  }

  /** Parameters of 16 bits are gathered in two bytes each, those of the first segment too. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void halvesOfTheFirstSegmentAreCountedAsHalves(int stage) {
    var sent =
        trial(2, "amp: {dtype: bf16}, sharding: {stage: %d, parameters: bf16}".formatted(stage))
            .sent();
    assertThat(sent.ahead()).isEqualTo(2 * 156 / 2.0);
  }

  @Test
  void oneRankSendsNothingAndTakesTime() {
    var alone = trial(1, "");
    assertThat(alone.sent().reduced()).isZero();
    assertThat(alone.seconds()).isPositive();
    assertThat(alone.peakBytes()).isPositive();
    assertThat(alone.samples()).isEqualTo(8);
  }
}
