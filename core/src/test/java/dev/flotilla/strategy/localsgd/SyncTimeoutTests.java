package dev.flotilla.strategy.localsgd;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How long ranks wait for each other at an average. */
class SyncTimeoutTests {

  private static final Duration MINUTE = Duration.ofMinutes(1);

  private static Duration after(double own, double... others) {
    var timeout = new SyncTimeout();
    timeout.roundTook(own);
    timeout.roundsTook(others);
    return timeout.longest(MINUTE);
  }

  @Test
  void shortRoundsWaitAsLongAsAnyCollective() {
    assertThat(after(0)).isEqualTo(MINUTE);
    assertThat(after(5, 6)).isEqualTo(MINUTE);
  }

  @Test
  void longRoundsWaitForARankThatIsThreeTimesSlower() {
    // 500 updates of 0.8 s: a rank at a third of the speed comes 800 s later.
    assertThat(after(400)).isGreaterThan(Duration.ofSeconds(800));
    assertThat(after(400)).isLessThan(Duration.ofHours(1));
  }

  @Test
  void theSlowestRankOfTheRoundBeforeCounts() {
    assertThat(after(10, 10, 200)).isEqualTo(after(200));
  }

  @Test
  void thereAreFewDifferentWaits() {
    assertThat(after(400)).isEqualTo(after(401)).isEqualTo(after(390));
  }
}
