package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RootCauseTests {

  private static final Instant STOP = Instant.ofEpochSecond(100);

  private static RankEnd end(int rank, int exitCode, int second) {
    return new RankEnd(rank, exitCode, Instant.ofEpochSecond(second), Optional.empty());
  }

  private static RankEnd noted(int rank, int exitCode, int noted, int reaped) {
    var error = new ErrorFile(Instant.ofEpochSecond(noted), "X", "y");
    return new RankEnd(rank, exitCode, Instant.ofEpochSecond(reaped), Optional.of(error));
  }

  private static int cause(RankEnd... ends) {
    return RootCause.of(List.of(ends), STOP).map(RankEnd::rank).orElse(-1);
  }

  @Test
  void isTheEarliestFailure() {
    assertThat(cause(end(0, 1, 51), end(1, 1, 50), end(2, 0, 10))).isEqualTo(1);
  }

  @Test
  void isRatherACauseThanAConsequence() {
    assertThat(cause(end(0, 5, 50), end(1, 137, 51))).isEqualTo(1);
  }

  @Test
  void isTheEarliestConsequenceWhereThereIsNothingElse() {
    assertThat(cause(end(0, 5, 51), end(1, 5, 50))).isEqualTo(1);
  }

  @Test
  void goesByTheTimeTheRankNoted() {
    assertThat(cause(end(0, 1, 50), noted(1, 1, 49, 52))).isEqualTo(1);
  }

  @Test
  void isNoRankThatTheLauncherStopped() {
    assertThat(cause(end(0, 5, 50), end(1, 143, 101), end(2, 137, 106), end(3, 1, 101))).isZero();
  }

  @Test
  void mayEndAfterTheStopWhenItWasNotedBefore() {
    assertThat(cause(end(0, 5, 50), noted(1, 1, 99, 103))).isEqualTo(1);
  }

  @Test
  void mayCrashAfterTheStop() {
    assertThat(cause(end(0, 5, 50), end(1, 134, 101))).isEqualTo(1);
  }

  @Test
  void isNothingWhenAllEndedWell() {
    assertThat(cause(end(0, 0, 50))).isEqualTo(-1);
  }
}
