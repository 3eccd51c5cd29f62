package dev.flotilla.optim;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;

/**
 * The rate rises once and falls once (Smith and Topin, 2018), as PyTorch's OneCycleLR has it: from
 * {@code lr / divFactor} to {@code lr}, then to {@code lr / divFactor / finalDivFactor} at the last
 * update, both along half a cosine or straight. Momentum stays as it is.
 *
 * @param peakAt fraction of the updates after which the rate is highest
 * @param divFactor by what the first rate is smaller than the highest
 * @param finalDivFactor by what the last rate is smaller than the first
 * @param anneal along which line
 */
public record OneCycle(
    @Setting(
            doc = "fraction of the updates after which the learning rate is highest, in (0, 1)",
            def = "0.3")
        double peakAt,
    @Setting(doc = "highest learning rate divided by the first one, >= 1", def = "25")
        double divFactor,
    @Setting(doc = "first learning rate divided by the last one, >= 1", def = "10000")
        double finalDivFactor,
    @Setting(doc = "shape of rise and fall: cos or linear", def = "cos") Anneal anneal)
    implements Schedule {

  /** How the rate goes from one to another. */
  public enum Anneal {
    /** Along half a cosine. */
    COS,
    /** In a straight line. */
    LINEAR
  }

  /** Checks the settings. */
  public OneCycle {
    Check.that(peakAt > 0 && peakAt < 1, "peak_at", "must be in (0, 1)", peakAt)
        .and(divFactor >= 1, "div_factor", "must be at least 1", divFactor)
        .and(finalDivFactor >= 1, "final_div_factor", "must be at least 1", finalDivFactor)
        .orThrow();
  }

  /** Returns the cycle with PyTorch's settings. */
  public OneCycle() {
    this(0.3, 25, 1e4, Anneal.COS);
  }

  /** Returns 0: its rise is the warm-up. */
  @Override
  public long warmupSteps() {
    return 0;
  }

  @Override
  public double factor(long update, long total) {
    double last = Math.max(1, total - 1.0);
    double peak = Math.max(0, peakAt * total - 1);
    double now = Math.min(update, last);
    double first = 1 / divFactor;
    return now <= peak
        ? between(first, 1, peak == 0 ? 1 : now / peak)
        : between(1, first / finalDivFactor, (now - peak) / (last - peak));
  }

  private double between(double from, double to, double fraction) {
    return anneal == Anneal.LINEAR
        ? from + (to - from) * fraction
        : to + (from - to) / 2 * (1 + Math.cos(Math.PI * fraction));
  }

  /** Not asked: the whole of the updates is one cycle. */
  @Override
  public double factorAfterWarmup(double progress, long update) {
    throw new UnsupportedOperationException("one cycle has no warm-up of its own");
  }
}
