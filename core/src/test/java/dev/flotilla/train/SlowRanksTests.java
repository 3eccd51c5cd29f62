package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class SlowRanksTests {

  @Test
  void theRankThatWaitsLeastIsNamed() {
    // Working shares are 0.5, 0.9, 0.5 and 0.6: beside the median of the others, 0.5, it is 1.8.
    var slow = SlowRanks.in(0.5, 0.1, 0.5, 0.4).orElseThrow();

    assertThat(slow.rank()).isEqualTo(1);
    assertThat(slow.times()).isCloseTo(0.9 / 0.5, within(1e-9));
    assertThat(slow.share()).isCloseTo(0.9 - 0.5, within(1e-9));
  }

  @Test
  void ranksThatWaitAlikeAreNotNamedHoweverSlowTheWireIs() {
    assertThat(SlowRanks.in(0.9, 0.91, 0.89)).isEmpty();
    assertThat(SlowRanks.in(0.0, 0.0)).isEmpty();
    assertThat(SlowRanks.in(0.3)).isEmpty();
  }

  @Test
  void smallDifferencesAreNotNamed() {
    // 1.22 times as long.
    assertThat(SlowRanks.in(0.45, 0.55)).isEmpty();
    // Three times as long, but of little.
    assertThat(SlowRanks.in(0.97, 0.99)).isEmpty();
    assertThat(SlowRanks.in(0.4, 0.55)).isPresent();
  }
}
