package dev.flotilla.strategy.compress;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class RampTests {

  @Test
  void fiveSparsitiesOverAHundredStepsTakeTwentyEach() {
    var fractions = List.of(0.75, 0.9375, 0.984375, 0.996, 0.999);
    var ramp = new Ramp(0, 100, fractions);
    for (int step = 0; step < 300; step++) {
      assertThat(ramp.sparsityAt(step)).isEqualTo(fractions.get(Math.min(step / 20, 4)));
    }
  }

  @Test
  void theRampBeginsAfterTheDensePhase() {
    var ramp = new Ramp(2504, 3756, List.of(0.75, 0.9375, 0.999));
    assertThat(ramp.isDense(2503)).isTrue();
    assertThat(ramp.isDense(2504)).isFalse();
    assertThat(ramp.sparsityAt(2504)).isEqualTo(0.75);
    assertThat(ramp.sparsityAt(3755)).isEqualTo(0.75);
    assertThat(ramp.sparsityAt(3756)).isEqualTo(0.9375);
    assertThat(ramp.sparsityAt(5007)).isEqualTo(0.9375);
    assertThat(ramp.sparsityAt(5008)).isEqualTo(0.999);
    assertThat(ramp.sparsityAt(1_000_000)).isEqualTo(0.999);
  }

  @Test
  void aThousandthOfATensorIsRoundedDown() {
    assertThat(Ramp.kept(16384, 0.999)).isEqualTo(16);
    assertThat(Ramp.kept(65536, 0.999)).isEqualTo(65);
    assertThat(Ramp.kept(2359296, 0.999)).isEqualTo(2359);
  }

  @Test
  void binaryFractionsLoseNoEntryAndSomethingIsAlwaysSent() {
    assertThat(Ramp.kept(100, 0.9)).isEqualTo(10);
    assertThat(Ramp.kept(1000, 0.999)).isEqualTo(1);
    assertThat(Ramp.kept(10, 0.999)).isEqualTo(1);
    assertThat(Ramp.kept(7, 0)).isEqualTo(7);
    assertThat(Ramp.kept(0, 0.5)).isZero();
  }
}
