package dev.flotilla.strategy.recompute;

import dev.flotilla.pass.PartCost;
import dev.flotilla.pass.Span;
import java.util.List;
import java.util.Locale;

/**
 * What to recompute, and what that is expected to cost.
 *
 * @param spans covers all parts
 * @param peakBytes the most that activations take at any moment
 * @param extraNanos time of the second forward of what is recomputed
 */
record RecomputePlan(List<Span> spans, long peakBytes, long extraNanos) {

  private static final double MEBIBYTE = 1 << 20;

  RecomputePlan {
    spans = List.copyOf(spans);
  }

  /** Returns the plan as lines for people. */
  String table(List<PartCost> costs, long budget) {
    long forward = costs.stream().mapToLong(PartCost::nanos).sum();
    long all = costs.stream().mapToLong(PartCost::keptBytes).sum();
    var text = new StringBuilder();
    text.append(
        line(
            "recompute plan for %.1f MiB of %.1f MiB activations: peak %.1f MiB, step × %.2f",
            budget / MEBIBYTE,
            all / MEBIBYTE,
            peakBytes / MEBIBYTE,
            // Backward takes about twice as long as forward.
            1 + (double) extraNanos / (3 * forward)));
    text.append(line("%n  %-44s %10s %10s", "parts", "MiB kept", "ms forward"));
    for (var span : spans) {
      var parts = costs.subList(span.from(), span.to());
      text.append(
          line(
              "%n  %-44s %10.1f %10.2f  %s",
              names(parts),
              parts.stream().mapToLong(PartCost::keptBytes).sum() / MEBIBYTE,
              parts.stream().mapToLong(PartCost::nanos).sum() / 1e6,
              span.isRecomputed() ? "recomputed" : "kept"));
    }
    return text.toString();
  }

  private static String names(List<PartCost> parts) {
    return parts.size() == 1
        ? parts.getFirst().name()
        : parts.getFirst().name() + " … " + parts.getLast().name();
  }

  private static String line(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
