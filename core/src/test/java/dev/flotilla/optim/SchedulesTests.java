package dev.flotilla.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.settings.ConfigException;
import java.util.List;
import org.junit.jupiter.api.Test;

class SchedulesTests {

  @Test
  void constantStaysAtOne() {
    assertThat(new Constant(0).factor(7, 10)).isEqualTo(1);
  }

  @Test
  void warmupRisesInEqualStepsToOne() {
    var schedule = new Constant(4);
    assertThat(schedule.factor(0, 10)).isEqualTo(0.25);
    assertThat(schedule.factor(3, 10)).isEqualTo(1);
    assertThat(schedule.factor(4, 10)).isEqualTo(1);
  }

  @Test
  void stepFallsEverySoManyUpdatesAfterWarmup() {
    var schedule = new StepDecay(2, 3, 0.1);
    assertThat(schedule.factor(2, 0)).isEqualTo(1);
    assertThat(schedule.factor(4, 0)).isEqualTo(1);
    assertThat(schedule.factor(5, 0)).isCloseTo(0.1, within(1e-12));
    assertThat(schedule.factor(8, 0)).isCloseTo(0.01, within(1e-12));
  }

  @Test
  void cosineFallsFromOneToItsEnd() {
    var schedule = new Cosine(0, 0.1);
    assertThat(schedule.factor(0, 100)).isEqualTo(1);
    assertThat(schedule.factor(50, 100)).isCloseTo(0.55, within(1e-12));
    assertThat(schedule.factor(100, 100)).isCloseTo(0.1, within(1e-12));
    assertThat(schedule.factor(1000, 100)).isCloseTo(0.1, within(1e-12));
  }

  @Test
  void polynomialAndLinearFallTowardsTheirEnd() {
    assertThat(new Polynomial(0, 2, 0).factor(50, 100)).isCloseTo(0.25, within(1e-12));
    assertThat(new Linear(0, 0.5).factor(50, 100)).isCloseTo(0.75, within(1e-12));
  }

  @Test
  void warmupDoesNotCountAsProgress() {
    assertThat(new Linear(10, 0).factor(10, 20)).isEqualTo(1);
    assertThat(new Linear(10, 0).factor(15, 20)).isCloseTo(0.5, within(1e-12));
  }

  @Test
  void milestonesFallAtStatedUpdatesAfterWarmup() {
    var schedule = new Milestones(2, List.of(3L, 5L), 0.5);
    assertThat(schedule.factor(0, 0)).isEqualTo(0.5);
    assertThat(schedule.factor(4, 0)).isEqualTo(1);
    assertThat(schedule.factor(5, 0)).isEqualTo(0.5);
    assertThat(schedule.factor(6, 0)).isEqualTo(0.5);
    assertThat(schedule.factor(7, 0)).isEqualTo(0.25);
  }

  /** PyTorch 2.13: OneCycleLR(max_lr=1, total_steps=10), by its two lines. */
  @Test
  void oneCycleIsPyTorchs() {
    double[] cos = {
      0.04,
      0.52,
      1.0,
      0.9504846320134737,
      0.8117456539497631,
      0.6112620219362892,
      0.3887419780637108,
      0.18825834605023686,
      0.049519367986526286,
      4e-06
    };
    double[] linear = {
      0.04,
      0.52,
      1.0,
      0.8571434285714286,
      0.7142868571428571,
      0.5714302857142858,
      0.4285737142857143,
      0.2857171428571428,
      0.14286057142857134,
      4e-06
    };
    for (int update = 0; update < 10; update++) {
      assertThat(new OneCycle().factor(update, 10)).isCloseTo(cos[update], within(1e-12));
      assertThat(new OneCycle(0.3, 25, 1e4, OneCycle.Anneal.LINEAR).factor(update, 10))
          .isCloseTo(linear[update], within(1e-12));
    }
    assertThat(new OneCycle().factor(100, 10)).isCloseTo(4e-6, within(1e-12));
  }

  /** PyTorch 2.13: CosineAnnealingWarmRestarts(T_0=3, T_mult=2, eta_min=0.1). */
  @Test
  void warmRestartsArePyTorchs() {
    double[] factors = {
      1.0, 0.775, 0.325, 1.0, 0.9397114317029974, 0.775, 0.55, 0.325, 0.1602885682970026, 1.0
    };
    for (int update = 0; update < factors.length; update++) {
      assertThat(new WarmRestarts(0, 3, 2, 0.1).factor(update, 0))
          .isCloseTo(factors[update], within(1e-12));
    }
    assertThat(new WarmRestarts(0, 3, 1, 0).factor(3_000_000_001L, 0))
        .isCloseTo(0.75, within(1e-12));
  }

  @Test
  void refusesMilestonesThatDoNotRise() {
    assertThatThrownBy(() -> new Milestones(5L, 3L))
        .hasMessageContaining("at: must be numbers of at least 1 that rise, but was [5, 3]");
    assertThatThrownBy(() -> new OneCycle(0, 0.5, 1, OneCycle.Anneal.COS))
        .isInstanceOfSatisfying(ConfigException.class, e -> assertThat(e.problems()).hasSize(2));
  }

  @Test
  void refusesAllBadValuesAtOnce() {
    assertThatThrownBy(() -> new StepDecay(-1, 0, 2))
        .isInstanceOfSatisfying(ConfigException.class, e -> assertThat(e.problems()).hasSize(3))
        .hasMessageContaining("every: must be at least 1, but was 0");
  }
}
