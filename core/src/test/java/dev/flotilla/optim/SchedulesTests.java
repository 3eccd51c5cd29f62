package dev.flotilla.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.settings.ConfigException;
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
  void refusesAllBadValuesAtOnce() {
    assertThatThrownBy(() -> new StepDecay(-1, 0, 2))
        .isInstanceOfSatisfying(ConfigException.class, e -> assertThat(e.problems()).hasSize(3))
        .hasMessageContaining("every: must be at least 1, but was 0");
  }
}
