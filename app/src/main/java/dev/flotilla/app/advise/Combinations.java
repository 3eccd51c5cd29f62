package dev.flotilla.app.advise;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The combinations that are worth a look, the simpler ones first. */
public final class Combinations {

  /** Keys of {@code strategy} that combinations set; what a recipe has besides stays. */
  public static final Set<String> KEYS =
      Set.of(
          "gradient_merge",
          "recompute",
          "amp",
          "dgc",
          "powersgd",
          "localsgd",
          "adaptive_localsgd",
          "sharding",
          "fuse_all_reduce");

  private static final Map<String, Object> BUCKETS = Map.of("size_mb", 4);
  private static final int LOCAL_STEPS = 8;
  private static final int LARGER_BATCH = 4;

  private Combinations() {}

  /**
   * Returns all combinations.
   *
   * @param ranks number of ranks
   * @param segments of the model
   * @param batch samples per rank and micro-step
   * @param hasNorms whether the model has running statistics, which see each micro-batch
   */
  public static List<Combination> of(int ranks, int segments, int batch, boolean hasNorms) {
    List<Combination> all = new ArrayList<>();
    boolean several = ranks > 1;
    boolean canRecompute = segments > 1;
    var overlap = several ? Overlap.BACKWARD : Overlap.NONE;
    Map<String, Object> buckets = several ? Map.of("fuse_all_reduce", BUCKETS) : Map.of();
    all.add(new Combination("plain", Map.of(), 1, Overlap.NONE, ""));
    if (several) {
      all.add(new Combination("overlap", buckets, 1, overlap, ""));
    }
    if (canRecompute) {
      all.add(new Combination("recompute", with(buckets, recompute()), 1, overlap, ""));
    }
    int parts = parts(batch);
    String smaller = hasNorms ? "BatchNorm sees micro-batches of %d".formatted(batch / parts) : "";
    if (parts > 1) {
      all.add(new Combination("merge", with(buckets, merge(parts)), parts, overlap, smaller));
    }
    if (several) {
      for (int stage = 1; stage <= 3; stage++) {
        all.add(sharded("sharding " + stage, stage, Map.of()));
      }
      if (canRecompute) {
        all.add(sharded("sharding 3 + recompute", 3, recompute()));
      }
    }
    all.add(new Combination("amp", with(buckets, amp()), 1, overlap, "products in bf16"));
    if (canRecompute) {
      all.add(
          new Combination(
              "amp + recompute",
              with(with(buckets, amp()), recompute()),
              1,
              overlap,
              "products in bf16"));
    }
    if (several) {
      addApproximate(all, buckets);
    }
    return all;
  }

  private static void addApproximate(List<Combination> all, Map<String, Object> buckets) {
    all.add(
        new Combination(
            "16-bit wire",
            Map.of("fuse_all_reduce", Map.of("size_mb", 4, "wire", "bf16")),
            1,
            Overlap.BACKWARD,
            "gradients in bf16 on the wire"));
    all.add(
        new Combination(
            "dgc",
            with(
                buckets,
                Map.of(
                    "dgc",
                    Map.of("rampup_begin_step", 0, "rampup_step", 1, "sparsity", List.of(0.999)))),
            1,
            Overlap.NONE,
            "sends a thousandth of the gradient, the rest later"));
    all.add(
        new Combination(
            "powersgd",
            Map.of("powersgd", Map.of("rank", 2)),
            1,
            Overlap.NONE,
            "gradients of rank 2, the rest later"));
    all.add(
        new Combination(
            "localsgd",
            Map.of("localsgd", Map.of("k_steps", LOCAL_STEPS)),
            1,
            Overlap.NONE,
            "ranks differ for %d updates".formatted(LOCAL_STEPS)));
    all.add(
        new Combination(
            "larger batch",
            with(buckets, merge(LARGER_BATCH)),
            1,
            Overlap.BACKWARD,
            "%d times the batch per update".formatted(LARGER_BATCH)));
  }

  private static Combination sharded(String name, int stage, Map<String, Object> more) {
    return new Combination(
        name,
        with(Map.of("sharding", Map.of("stage", stage)), more),
        1,
        stage == 3 ? Overlap.GATHERED : Overlap.BOTH,
        "");
  }

  /** A batch is divided by four, or by two, where that leaves no rest. */
  private static int parts(int batch) {
    return batch % 4 == 0 ? 4 : batch % 2 == 0 ? 2 : 1;
  }

  private static Map<String, Object> recompute() {
    return Map.of("recompute", Map.of("every", 1));
  }

  private static Map<String, Object> amp() {
    return Map.of("amp", Map.of("dtype", "bf16"));
  }

  private static Map<String, Object> merge(int steps) {
    return Map.of("gradient_merge", Map.of("k_steps", steps));
  }

  private static Map<String, Object> with(Map<String, Object> some, Map<String, Object> more) {
    Map<String, Object> all = new LinkedHashMap<>(some);
    all.putAll(more);
    return all;
  }
}
