package dev.flotilla.app;

import dev.flotilla.settings.ConfigException;
import java.util.List;

/**
 * One row of a benchmark: a technique as recipes write it.
 *
 * @param name what the table shows
 * @param strategy the recipe's key {@code strategy}, as YAML in one line, or its key {@code
 *     exchange}
 */
record BenchVariant(String name, String strategy) {

  private static final String EXCHANGE = "exchange:";

  /** One rank that exchanges nothing, which all others are measured against. */
  static final BenchVariant ALONE = new BenchVariant("compute alone", "");

  /** What is compared unless other techniques are named. */
  static List<BenchVariant> usual() {
    return List.of(
        new BenchVariant("one bucket, after backward", ""),
        new BenchVariant("buckets of 4 MB, after backward", fused("size_mb: 4, overlap: false")),
        new BenchVariant("buckets of 4 MB, overlapped", fused("size_mb: 4")),
        new BenchVariant("mg_wfbp", fused("plan: mg_wfbp")),
        new BenchVariant("buckets of 4 MB, overlapped, bf16", fused("size_mb: 4, wire: bf16")));
  }

  private static String fused(String settings) {
    return "fuse_all_reduce: {" + settings + "}";
  }

  /** Reads {@code NAME=STRATEGY}, for example {@code dgc=dgc: {sparsity: [0.999]}}. */
  static BenchVariant parse(String text) {
    int end = text.indexOf('=');
    if (end < 1) {
      throw new ConfigException(
          "--technique",
          "must be NAME=STRATEGY, for example 'merged=gradient_merge: {k_steps: 4}', but was '%s'"
              .formatted(text));
    }
    return new BenchVariant(text.substring(0, end), text.substring(end + 1));
  }

  String text() {
    return name + "=" + strategy;
  }

  /** Returns the change of a recipe that makes it this variant. */
  String change() {
    return choosesExchange()
        ? "exchange=" + strategy.substring(EXCHANGE.length()).strip()
        : "strategy={" + strategy + "}";
  }

  private boolean choosesExchange() {
    return strategy.startsWith(EXCHANGE);
  }

  /** Steps before the first measured one; one that measures, or loops in Java, needs more. */
  int warmUp() {
    if (strategy.contains("dgc") || choosesExchange()) {
      return 25;
    }
    return strategy.contains("mg_wfbp") ? 12 : 3;
  }
}
