package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.app.AdviceErrors.Row;
import dev.flotilla.app.advise.Advice;
import dev.flotilla.app.advise.Combination;
import dev.flotilla.app.advise.LinkRate;
import dev.flotilla.app.advise.Overlap;
import dev.flotilla.app.advise.Prediction;
import dev.flotilla.app.doctor.Measured.Busy;
import dev.flotilla.config.StepTrial.Result;
import dev.flotilla.config.StepTrial.Sent;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AdviceErrorsTests {

  private static final LinkRate LINK = new LinkRate(0, 1e-7, Busy.UNKNOWN, "test");

  private static Result taking(long bytes, double seconds) {
    return new Result(bytes, List.of(seconds), 0, 0, 1, 1, 10, new Sent(0, 0, 0, 0));
  }

  private static Row row(String name, String change, double predicted, double measured) {
    var combination = new Combination(name, Map.of(), 1, Overlap.NONE, change);
    var prediction = Prediction.of(combination, taking(1000, predicted), LINK, 2);
    return new Row(prediction, taking(950, measured));
  }

  private static final List<Row> ROWS =
      List.of(
          row("plain", "", 0.4, 0.3),
          row("recommended", "", 0.2, 0.33),
          row("approximate", "less exact", 0.1, 0.1));

  private static final Advice ADVICE =
      new Advice(ROWS.stream().map(Row::predicted).toList(), Long.MAX_VALUE, false);

  @Test
  void theRecommendedRowIsComparedWithTheFastestThatKeepsTheMathematics() {
    var choice = AdviceErrors.choice(ROWS, ADVICE).orElseThrow();
    assertThat(choice.chosen().name()).isEqualTo("recommended");
    assertThat(choice.fastest().name()).isEqualTo("plain");
    assertThat(choice.isFastest()).isFalse();
    assertThat(choice.behind()).isCloseTo(0.1, within(1e-9));
    assertThat(AdviceErrors.table(ROWS, ADVICE)).contains("10.0 % behind it");
  }

  @Test
  void rowsAreCountedWithinTheirLimits() {
    assertThat(AdviceErrors.summary(ROWS))
        .contains("of 3: memory within 10 % in 3, time within 20 % in 1");
  }

  @Test
  void aRowThatIsMeasuredAgainKeepsItsPrediction() {
    var again = ROWS.getFirst().again(taking(950, 0.5));
    assertThat(again.predicted()).isEqualTo(ROWS.getFirst().predicted());
    assertThat(again.measuredPerSample()).isCloseTo(0.5 / 20, within(1e-12));
  }
}
