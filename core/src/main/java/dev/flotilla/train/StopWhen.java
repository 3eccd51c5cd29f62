package dev.flotilla.train;

import dev.flotilla.metric.Metric;
import dev.flotilla.model.Task;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Ends a fit when evaluations have stopped to get better (early stopping).
 *
 * @param metric which value is watched: {@code loss}, {@code accuracy}, or the name of a metric
 * @param mode whether less or more is better; null for what the metric says of itself
 * @param patience evaluations in a row that may pass without a better one
 * @param minDelta by how much a value must be better to count
 */
public record StopWhen(
    @Setting(doc = "What is watched: loss, accuracy, or a name among metrics.") String metric,
    @Setting(
            doc = "Whether less or more is better: min or max; by default what the metric says.",
            def = "null")
        @Nullable Mode mode,
    @Setting(doc = "Evaluations in a row that may be no better, at least 1.", def = "3")
        int patience,
    @Setting(doc = "By how much a value must be better to count, at least 0.", def = "0")
        double minDelta) {

  /** Which values are better. */
  public enum Mode {
    /** Lower ones. */
    MIN,
    /** Higher ones. */
    MAX
  }

  /** Checks the numbers. */
  public StopWhen {
    Check.that(!metric.isBlank(), "metric", "must be a name", "'" + metric + "'")
        .and(patience >= 1, "patience", "must be at least 1", patience)
        .and(
            minDelta >= 0 && Double.isFinite(minDelta), "min_delta", "must be at least 0", minDelta)
        .orThrow();
  }

  /** Watches a value in the direction that its metric says, with a patience of three. */
  public static StopWhen noBetter(String metric) {
    return new StopWhen(metric, null, 3, 0);
  }

  /** Returns the same with another number of evaluations that may be no better. */
  public StopWhen patience(int evaluations) {
    return new StopWhen(metric, mode, evaluations, minDelta);
  }

  /** Returns the same where a value must be better by more than a number to count. */
  public StopWhen minDelta(double difference) {
    return new StopWhen(metric, mode, patience, difference);
  }

  /** Returns the same in a direction of one's own. */
  public StopWhen mode(Mode better) {
    return new StopWhen(metric, better, patience, minDelta);
  }

  /** Tells whether higher values are better. */
  boolean isHigherBetter(List<Metric> metrics) {
    return mode == null ? WatchedValue.isHigherBetter(metric, metrics) : mode == Mode.MAX;
  }

  /**
   * Returns what is wrong with the name of the metric.
   *
   * @param metrics what evaluations measure besides loss and accuracy
   * @param task what the model is asked for
   * @param average the name of a moving average that is evaluated too, if there is one
   * @param sets names of the data that is evaluated on besides the test data
   */
  public Optional<String> problem(
      List<Metric> metrics, Task task, Optional<String> average, Collection<String> sets) {
    return WatchedValue.problem(metric, metrics, task, average, sets);
  }

  /** Returns the value that is watched. */
  double in(Evaluation evaluation) {
    return evaluation.value(metric);
  }
}
