package dev.flotilla.strategy.localsgd;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Whom ranks wait for. */
class WaitingTests {

  private static Waiting after(int rank, double... seconds) {
    var waiting = new Waiting(seconds.length, rank);
    waiting.add(new double[] {90, 90, 90}, 90);
    waiting.add(seconds, 0.5);
    waiting.add(seconds, 0.5);
    return waiting;
  }

  @Test
  void aRankAtHalfSpeedIsNamedAndTheStartIsNotCounted() {
    var metrics = after(0, 1.0, 2.0, 1.05).metrics();
    assertThat(metrics).containsEntry("waited_for", List.of(1));
    assertThat(metrics).containsEntry("computing_seconds", 2.0);
    assertThat(metrics).containsEntry("blocked_seconds", 1.0);
    assertThat(metrics).containsEntry("for_slower_ranks_seconds", 2.0);
  }

  @Test
  void theSlowRankItselfSaysTheSame() {
    var metrics = after(1, 1.0, 2.0, 1.05).metrics();
    assertThat(metrics).containsEntry("waited_for", List.of(1));
    assertThat(metrics).containsEntry("for_slower_ranks_seconds", 0.0);
  }

  @Test
  void nobodyIsNamedWhereAllAreAboutAsFast() {
    var metrics = after(2, 1.0, 1.02, 1.05).metrics();
    assertThat(metrics).containsEntry("waited_for", List.of());
    assertThat(metrics).containsEntry("computing_seconds", 2.1);
  }

  @Test
  void nobodyIsNamedWhereRanksAreSlowInTurn() {
    var waiting = new Waiting(2, 0);
    waiting.add(new double[] {9, 9}, 0);
    waiting.add(new double[] {1, 2}, 1);
    waiting.add(new double[] {2, 1}, 0);
    assertThat(waiting.metrics()).containsEntry("waited_for", List.of());
    assertThat(waiting.metrics()).containsEntry("for_slower_ranks_seconds", 1.0);
  }
}
