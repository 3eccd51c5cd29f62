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
    var figures = after(0, 1.0, 2.0, 1.05).figures();
    assertThat(figures).containsEntry("waited_for", List.of(1));
    assertThat(figures).containsEntry("computing_seconds", 2.0);
    assertThat(figures).containsEntry("blocked_seconds", 1.0);
    assertThat(figures).containsEntry("for_slower_ranks_seconds", 2.0);
  }

  @Test
  void theSlowRankItselfSaysTheSame() {
    var figures = after(1, 1.0, 2.0, 1.05).figures();
    assertThat(figures).containsEntry("waited_for", List.of(1));
    assertThat(figures).containsEntry("for_slower_ranks_seconds", 0.0);
  }

  @Test
  void nobodyIsNamedWhereAllAreAboutAsFast() {
    var figures = after(2, 1.0, 1.02, 1.05).figures();
    assertThat(figures).containsEntry("waited_for", List.of());
    assertThat(figures).containsEntry("computing_seconds", 2.1);
  }

  @Test
  void nobodyIsNamedWhereRanksAreSlowInTurn() {
    var waiting = new Waiting(2, 0);
    waiting.add(new double[] {9, 9}, 0);
    waiting.add(new double[] {1, 2}, 1);
    waiting.add(new double[] {2, 1}, 0);
    assertThat(waiting.figures()).containsEntry("waited_for", List.of());
    assertThat(waiting.figures()).containsEntry("for_slower_ranks_seconds", 1.0);
  }
}
