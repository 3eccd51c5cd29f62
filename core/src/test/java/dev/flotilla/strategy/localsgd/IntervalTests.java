package dev.flotilla.strategy.localsgd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.arena.Totals;
import dev.flotilla.wire.Dtype;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** After which updates ranks average, and how the interval follows loss and learning rate. */
class IntervalTests {

  private static List<Long> averages(int beginStep, int interval, int updates) {
    var steps = new SyncSteps(beginStep);
    return LongStream.rangeClosed(1, updates)
        .filter(
            _ -> {
              boolean isDue = steps.isDue(interval);
              if (isDue) {
                steps.averaged();
              }
              return isDue;
            })
        .boxed()
        .toList();
  }

  @Test
  void averagesFollowTheFirstUpdatesAndThenEveryInterval() {
    assertThat(averages(1, 4, 14)).containsExactly(1L, 5L, 9L, 13L);
    assertThat(averages(5, 4, 14)).containsExactly(1L, 2L, 3L, 4L, 5L, 9L, 13L);
    assertThat(averages(0, 4, 14)).containsExactly(4L, 8L, 12L);
    assertThat(averages(1, 1, 4)).containsExactly(1L, 2L, 3L, 4L);
  }

  @Test
  void comparesOncePerMultipleAndOnlyAtAverages() {
    var steps = new SyncSteps(1);
    var compared =
        LongStream.rangeClosed(1, 40)
            .filter(
                _ -> {
                  if (!steps.isDue(4)) {
                    return false;
                  }
                  steps.averaged();
                  return steps.hasPassedMultiple(10);
                })
            .boxed()
            .toList();
    assertThat(compared).containsExactly(13L, 21L, 33L);
  }

  private static AdaptiveInterval adaptive(int init, int begin, IntervalRule rule) {
    return new AdaptiveInterval(
        new AdaptiveLocalSgd(
            init,
            begin,
            16,
            rule,
            0.5,
            1,
            MomentumPolicy.LOCAL,
            Dtype.FP32,
            false,
            AveragingGroup.RANK));
  }

  @ParameterizedTest
  @CsvSource({"10, 0.5, 5", "100, 1, 16", "1, 1, 2", "0.01, 1, 1", "1, 0.25, 1", "9, 1, 6"})
  void fleetsRuleHasTheFirstIntervalInsideTheRoot(double lrRatio, double lossRatio, int expected) {
    var interval = adaptive(4, 1, IntervalRule.FLEET);
    interval.adapt(new Totals(20, 10), 0.1, 1);
    assertThat(interval.updates()).isEqualTo(4);
    interval.adapt(new Totals(20 * lossRatio, 10), 0.1 / lrRatio, 5);
    assertThat(interval.updates()).isEqualTo(expected);
  }

  @Test
  void thePapersRuleHasItOutsideAndShrinksWhereItWouldNot() {
    var interval = adaptive(16, 1, IntervalRule.ADACOMM);
    interval.adapt(new Totals(20, 10), 0.1, 1);
    interval.adapt(new Totals(10, 10), 0.1, 17);
    assertThat(interval.updates()).as("16 √½, rounded up").isEqualTo(12);
    interval.adapt(new Totals(12, 10), 0.1, 29);
    assertThat(interval.updates()).as("13 would be more, so half of 12").isEqualTo(6);
    interval.adapt(new Totals(1, 10), 0.1, 35);
    assertThat(interval.updates()).as("16 √0.05").isEqualTo(4);
    interval.adapt(new Totals(1, 10), 0.001, 39);
    assertThat(interval.updates()).isEqualTo(2);
    interval.adapt(new Totals(1, 10), 0.001, 41);
    interval.adapt(new Totals(1, 10), 0.001, 42);
    assertThat(interval.updates()).as("never below 1").isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({"NaN, 0.1", "Infinity, 0.1", "0, 0.1", "-3, 0.1", "5, 0", "5, NaN"})
  void valuesThatMakeNoSenseKeepTheInterval(double loss, double lr) {
    var interval = adaptive(9, 1, IntervalRule.FLEET);
    interval.adapt(new Totals(20, 10), 0.1, 1);
    interval.adapt(new Totals(loss, 10), lr, 10);
    assertThat(interval.updates()).isEqualTo(9);
    interval.adapt(new Totals(20, 10), 0.1, 19);
    assertThat(interval.updates()).as("and the next one counts").isEqualTo(3);
  }

  @Test
  void noRankWithALossTermKeepsTheInterval() {
    var interval = adaptive(9, 1, IntervalRule.FLEET);
    interval.adapt(new Totals(20, 10), 0.1, 1);
    interval.adapt(new Totals(0, 0), 0.1, 10);
    assertThat(interval.updates()).isEqualTo(9);
  }

  @Test
  void lossAndRateAreTakenWhereTheStartEnds() {
    var interval = adaptive(4, 3, IntervalRule.FLEET);
    interval.adapt(new Totals(900, 10), 1e-9, 1);
    interval.adapt(new Totals(900, 10), 1e-9, 2);
    interval.adapt(new Totals(20, 10), 0.1, 3);
    interval.adapt(new Totals(20, 10), 0.1, 7);
    assertThat(interval.updates()).isEqualTo(2);
  }

  @Test
  void aStartWithoutALossIsTakenLater() {
    var interval = adaptive(4, 1, IntervalRule.FLEET);
    interval.adapt(new Totals(Double.NaN, 10), 0.1, 1);
    interval.adapt(new Totals(20, 10), 0.1, 5);
    assertThat(interval.updates()).isEqualTo(4);
    interval.adapt(new Totals(20, 10), 0.1, 9);
    assertThat(interval.updates()).isEqualTo(2);
  }

  @Test
  void fleetLooksAtTheLastWindowAndThePaperAtTheRound() {
    assertThat(adaptive(4, 1, IntervalRule.FLEET).looksAtLastWindow()).isTrue();
    assertThat(adaptive(4, 1, IntervalRule.ADACOMM).looksAtLastWindow()).isFalse();
    for (boolean isLastOnly : List.of(true, false)) {
      var loss = new RoundLoss(isLastOnly);
      loss.saw(new Totals(30, 10));
      loss.saw(new Totals(10, 5));
      assertThat(loss.end()).isEqualTo(isLastOnly ? new Totals(10, 5) : new Totals(40, 15));
      assertThat(loss.end()).isEqualTo(new Totals(0, 0));
    }
  }

  @Test
  void looksAtTheIntervalOnlyAsOftenAsAsked() {
    var interval =
        new AdaptiveInterval(
            new AdaptiveLocalSgd(
                8,
                1,
                16,
                IntervalRule.ADACOMM,
                0.5,
                20,
                MomentumPolicy.LOCAL,
                Dtype.FP32,
                false,
                AveragingGroup.RANK));
    interval.adapt(new Totals(20, 10), 0.1, 1);
    interval.adapt(new Totals(20, 10), 0.1, 9);
    interval.adapt(new Totals(20, 10), 0.1, 17);
    assertThat(interval.updates()).isEqualTo(8);
    interval.adapt(new Totals(20, 10), 0.1, 25);
    assertThat(interval.updates()).isEqualTo(4);
  }
}
