package dev.flotilla.train;

import dev.flotilla.metric.Metric;
import dev.flotilla.optim.Schedule;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rate falls by a factor when evaluations have stopped to get better.
 *
 * @param metric which value is watched: {@code loss}, {@code accuracy}, or the name of a metric
 * @param mode whether less or more is better; null for what the metric says of itself
 * @param patience evaluations in a row without a better one after which the rate falls
 * @param minDelta by how much a value must be better to count
 * @param gamma factor of each fall
 * @param endFactor fraction of the learning rate below which it does not fall
 * @param warmupSteps updates of linear warm-up
 */
public record Plateau(
    @Setting(doc = "what is watched: loss, accuracy, or a name among metrics") String metric,
    @Setting(
            doc = "whether less or more is better: min or max; by default what the metric says",
            def = "null")
        StopWhen.@Nullable Mode mode,
    @Setting(doc = "evaluations in a row that are no better until the rate falls, >= 1", def = "10")
        int patience,
    @Setting(doc = "by how much a value must be better to count, >= 0", def = "0") double minDelta,
    @Setting(doc = "factor of each fall, in (0, 1)", def = "0.1") double gamma,
    @Setting(
            doc = "fraction of the learning rate below which it does not fall, in [0, 1]",
            def = "0")
        double endFactor,
    @Setting(doc = "updates of linear warm-up, >= 0", def = "0") long warmupSteps)
    implements Schedule {

  /** Checks the settings. */
  public Plateau {
    Check.that(!metric.isBlank(), "metric", "must be a name", "'" + metric + "'")
        .and(patience >= 1, "patience", "must be at least 1", patience)
        .and(
            minDelta >= 0 && Double.isFinite(minDelta), "min_delta", "must be at least 0", minDelta)
        .and(gamma > 0 && gamma < 1, "gamma", "must be in (0, 1)", gamma)
        .and(endFactor >= 0 && endFactor <= 1, "end_factor", "must be in [0, 1]", endFactor)
        .and(warmupSteps >= 0, "warmup_steps", "must be at least 0", warmupSteps)
        .orThrow();
  }

  /** Returns falls to a tenth. */
  public Plateau(String metric, int patience) {
    this(metric, null, patience, 0, 0.1, 0, 0);
  }

  /** Tells whether higher values are better. */
  boolean isHigherBetter(List<Metric> metrics) {
    return mode == null ? WatchedValue.isHigherBetter(metric, metrics) : mode == StopWhen.Mode.MAX;
  }

  @Override
  public boolean needsTotal() {
    return false;
  }

  /** Returns 1: falls come from evaluations. */
  @Override
  public double factorAfterWarmup(double progress, long update) {
    return 1;
  }
}
