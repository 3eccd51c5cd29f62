package dev.flotilla.testkit;

import dev.flotilla.collective.Wire;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.fusion.BucketRule;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.precision.HalfType;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.recompute.Recompute;
import java.util.List;
import java.util.stream.Stream;

/**
 * The table of techniques that claim to work; every row runs through every check of the conformance
 * tests. Joining the library means joining this table.
 */
public final class Conformance {

  /** What a technique promises about one rank's result, compared with the baseline. */
  public enum Promise {
    /** The same bits. */
    EXACT,
    /** The same but for rounding. */
    ROUNDING,
    /** Another algorithm, which learns as well. */
    ALGORITHMIC
  }

  /**
   * A technique, or a permitted combination.
   *
   * @param name what the test report shows
   * @param promise what one rank's result is compared with
   * @param techniques the settings
   * @param rounding how far two ranks may be from one, relative to the weights
   */
  public record Row(String name, Promise promise, List<Strategy> techniques, double rounding) {

    Row(String name, Promise promise, List<Strategy> techniques) {
      this(name, promise, techniques, 1e-5);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private Conformance() {}

  /** Returns all rows; the first is the baseline. */
  public static Stream<Row> rows() {
    return Stream.of(
        new Row("baseline", Promise.EXACT, List.of()),
        new Row("clip, never reached", Promise.EXACT, List.of(new ClipByNorm(1e9))),
        new Row("clip", Promise.ALGORITHMIC, List.of(new ClipByNorm(0.5))),
        new Row("gradient merge of 1", Promise.EXACT, List.of(new GradientMerge(1))),
        new Row("gradient merge of 3", Promise.ALGORITHMIC, List.of(new GradientMerge(3))),
        new Row(
            "gradient merge and clip",
            Promise.ALGORITHMIC,
            List.of(new GradientMerge(3), new ClipByNorm(0.5))),
        new Row("buckets in backward", Promise.EXACT, List.of(buckets(Wire.FP32))),
        new Row(
            "buckets, recompute and merge",
            Promise.ALGORITHMIC,
            List.of(buckets(Wire.FP32), Recompute.every(1), new GradientMerge(3))),
        new Row("bf16 on the wire", Promise.EXACT, List.of(buckets(Wire.BF16)), 0.05),
        new Row(
            "fp16 on the wire and in passes",
            Promise.ALGORITHMIC,
            List.of(buckets(Wire.FP16), new MixedPrecision(HalfType.FP16)),
            0.05),
        new Row("recompute", Promise.EXACT, List.of(Recompute.every(1))),
        new Row("recompute in a file", Promise.EXACT, List.of(Recompute.every(1).offloaded())),
        new Row("recompute by plan", Promise.EXACT, List.of(Recompute.auto(1 << 20))),
        new Row(
            "recompute and gradient merge",
            Promise.ALGORITHMIC,
            List.of(Recompute.every(1), new GradientMerge(3))),
        half("bf16", new MixedPrecision(HalfType.BF16)),
        half("bf16 and recompute", new MixedPrecision(HalfType.BF16), Recompute.every(1)),
        half("fp16", new MixedPrecision(HalfType.FP16)),
        half(
            "fp16, recompute, merge and clip",
            new MixedPrecision(HalfType.FP16),
            Recompute.every(1),
            new GradientMerge(3),
            new ClipByNorm(0.5)));
  }

  /** A bucket per layer of the small models here. */
  private static FuseAllReduce buckets(Wire wire) {
    return new FuseAllReduce(1e-4, 50, 0, true, BucketRule.SIZE, wire);
  }

  /** Sums in 16 bits depend on how samples are spread over ranks. */
  private static Row half(String name, Strategy... techniques) {
    return new Row(name, Promise.ALGORITHMIC, List.of(techniques), 0.05);
  }
}
