package dev.flotilla.step;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.pass.Accumulation;
import dev.flotilla.pass.Accumulation.Decision;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class UpdateCountTests {

  /** Windows of k, of one micro-step in the first updates, with one of the three tails. */
  private record Windows(int k, long from, Decision tail, boolean saysLength)
      implements Accumulation {

    @Override
    public Decision after(int microSteps, boolean lastOfEpoch, long updates) {
      if (microSteps >= length(updates)) {
        return Decision.UPDATE;
      }
      return lastOfEpoch ? tail : Decision.CONTINUE;
    }

    private int length(long updates) {
      return updates < from ? 1 : k;
    }

    @Override
    public int microSteps(long updates) {
      return saysLength ? length(updates) : 1;
    }

    @Override
    public long settledAfter() {
      return from;
    }
  }

  /** Counts as a run does: micro-step by micro-step. */
  private static long stepByStep(Accumulation windows, long microSteps, long epochs) {
    long updates = 0;
    int inWindow = 0;
    for (long i = 1; i <= epochs * microSteps; i++) {
      var decision = windows.after(++inWindow, i % microSteps == 0, updates);
      updates += decision == Decision.UPDATE ? 1 : 0;
      inWindow = decision == Decision.CONTINUE ? inWindow : 0;
    }
    return updates;
  }

  @ParameterizedTest
  @CsvSource({
    "1, 0, 7",
    "4, 0, 7",
    "4, 5, 7",
    "4, 100, 7",
    "5, 0, 3",
    "9, 11, 4",
    "12, 3, 8",
    "7, 2, 7",
  })
  void isWhatCountingEachMicroStepGives(int k, long from, long microSteps) {
    for (var tail : Decision.values()) {
      for (boolean saysLength : new boolean[] {true, false}) {
        var windows = new Windows(k, from, tail, saysLength);
        var count = new UpdateCount(windows, microSteps);
        for (long epochs = 0; epochs < 50; epochs++) {
          long updates = stepByStep(windows, microSteps, epochs);
          assertThat(count.in(epochs)).as("%s, %d epochs", windows, epochs).isEqualTo(updates);
          assertEpochsFor(windows, microSteps, count, updates);
        }
      }
    }
  }

  private static void assertEpochsFor(
      Accumulation windows, long microSteps, UpdateCount count, long wanted) {
    long epochs = count.epochsFor(wanted).orElseThrow();
    assertThat(stepByStep(windows, microSteps, epochs)).isGreaterThanOrEqualTo(wanted);
    assertThat(wanted == 0 || stepByStep(windows, microSteps, epochs - 1) < wanted).isTrue();
  }

  @Test
  @Timeout(10)
  void countsARunThatTakesYearsInNoTime() {
    var count = new UpdateCount(new Windows(4, 100, Decision.CONTINUE, true), 157);
    assertThat(count.in(Integer.MAX_VALUE)).isEqualTo(100 + (157L * Integer.MAX_VALUE - 100) / 4);
    for (int k : new int[] {1, 4, 4001}) {
      var endless = new UpdateCount(new Windows(k, 0, Decision.CONTINUE, true), 5);
      assertThat(endless.epochsFor(Long.MAX_VALUE).orElseThrow()).isGreaterThan(1L << 55);
    }
    assertThat(count.epochsFor(Long.MAX_VALUE / 200).orElseThrow()).isGreaterThan(1L << 40);
  }

  @Test
  void saysThatEpochsTooShortForAWindowNeverUpdate() {
    var count = new UpdateCount(new Windows(8, 0, Decision.DISCARD, true), 7);
    assertThat(count.in(1_000_000_000)).isZero();
    assertThat(count.epochsFor(1)).isEmpty();
  }
}
