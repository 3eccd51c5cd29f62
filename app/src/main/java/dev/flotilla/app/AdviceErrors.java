package dev.flotilla.app;

import dev.flotilla.app.advise.Advice;
import dev.flotilla.app.advise.Prediction;
import dev.flotilla.config.StepTrial.Result;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Shows by how much predictions were wrong. */
final class AdviceErrors {

  private static final double MIB = 1048576;

  private AdviceErrors() {}

  /**
   * A combination.
   *
   * @param predicted what was foretold
   * @param measured what it took
   */
  record Row(Prediction predicted, Result measured) {

    double memoryError() {
      return (double) predicted.trial().peakBytes() / measured.peakBytes() - 1;
    }

    double timeError() {
      return predicted.seconds() / measured.seconds() - 1;
    }

    double measuredPerSample() {
      return measured.seconds() / predicted.samples();
    }

    String name() {
      return predicted.combination().name();
    }

    Row again(Result other) {
      return new Row(predicted, other);
    }
  }

  /**
   * The recommended combination and the one that was measured as the fastest of those that keep the
   * mathematics.
   */
  record Choice(Row chosen, Row fastest) {

    boolean isFastest() {
      return chosen.equals(fastest);
    }

    double behind() {
      return chosen.measuredPerSample() / fastest.measuredPerSample() - 1;
    }
  }

  static Optional<Choice> choice(List<Row> rows, Advice advice) {
    var best = advice.recommended();
    var exact = rows.stream().filter(it -> it.predicted().combination().isExact()).toList();
    var fastest = exact.stream().min(Comparator.comparingDouble(Row::measuredPerSample));
    return exact.stream()
        .filter(it -> best.equals(Optional.of(it.predicted())))
        .findFirst()
        .map(chosen -> new Choice(chosen, fastest.orElseThrow()));
  }

  /** Returns all rows, and how good the recommended one turned out to be. */
  static String table(List<Row> rows, Advice advice) {
    var text = new StringBuilder();
    text.append(
        "%-24s %29s   %29s%n"
            .formatted("", "MiB predicted measured error", "ms predicted measured error"));
    for (var row : rows) {
      text.append(
          String.format(
              Locale.ROOT,
              "%-24s %13.0f %8.0f %+5.0f %%   %13.1f %8.1f %+5.0f %%%n",
              row.name(),
              row.predicted().trial().peakBytes() / MIB,
              row.measured().peakBytes() / MIB,
              100 * row.memoryError(),
              1e3 * row.predicted().seconds(),
              1e3 * row.measured().seconds(),
              100 * row.timeError()));
    }
    return text.append(verdict(rows, advice)).toString();
  }

  private static String verdict(List<Row> rows, Advice advice) {
    return choice(rows, advice).map(AdviceErrors::verdict).orElse("nothing is recommended\n");
  }

  private static String verdict(Choice choice) {
    return String.format(
        Locale.ROOT,
        "recommended: %s, measured %.3f ms per sample; the fastest that keeps the mathematics is"
            + " %s, %.3f: %.1f %% behind it%n",
        choice.chosen().name(),
        1e3 * choice.chosen().measuredPerSample(),
        choice.fastest().name(),
        1e3 * choice.fastest().measuredPerSample(),
        100 * choice.behind());
  }

  /** Returns how many of all predictions were as good as they should be. */
  static String summary(List<Row> rows) {
    long memory = rows.stream().filter(it -> Math.abs(it.memoryError()) <= 0.1).count();
    long time = rows.stream().filter(it -> Math.abs(it.timeError()) <= 0.2).count();
    return "%nof %d: memory within 10 %% in %d, time within 20 %% in %d%n"
        .formatted(rows.size(), memory, time);
  }
}
