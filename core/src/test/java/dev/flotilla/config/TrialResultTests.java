package dev.flotilla.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.config.StepTrial.Result;
import dev.flotilla.config.StepTrial.Sent;
import java.util.List;
import org.junit.jupiter.api.Test;

class TrialResultTests {

  private static Result rank(long bytes, double backward, Double... cycles) {
    return new Result(bytes, List.of(cycles), backward, 0.1, 4, 2, 8, new Sent(1, 2, 3, 4));
  }

  @Test
  void theShortestCycleCounts() {
    assertThat(rank(1, 0, 0.5, 0.3, 0.4).seconds()).isEqualTo(0.3);
  }

  /** Each rank has a quick cycle, but no cycle is quick on both. */
  @Test
  void ranksWaitForTheSlowestInEveryCycle() {
    var job = Result.ofRanks(List.of(rank(7, 0.2, 0.3, 0.5, 0.4), rank(9, 0.1, 0.6, 0.3)));
    assertThat(job.cycles()).containsExactly(0.6, 0.5);
    assertThat(job.seconds()).isEqualTo(0.5);
    assertThat(job.peakBytes()).isEqualTo(9);
    assertThat(job.backward()).isEqualTo(0.2);
    assertThat(job.sent()).isEqualTo(new Sent(1, 2, 3, 4));
  }
}
