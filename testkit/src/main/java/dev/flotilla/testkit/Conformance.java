package dev.flotilla.testkit;

import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.clip.ClipByValue;
import dev.flotilla.strategy.compress.AutoExchange;
import dev.flotilla.strategy.compress.Dgc;
import dev.flotilla.strategy.compress.IndexFormat;
import dev.flotilla.strategy.ema.Ema;
import dev.flotilla.strategy.fusion.BucketRule;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.strategy.localsgd.AdaptiveLocalSgd;
import dev.flotilla.strategy.localsgd.AveragingGroup;
import dev.flotilla.strategy.localsgd.IntervalRule;
import dev.flotilla.strategy.localsgd.LocalSgd;
import dev.flotilla.strategy.localsgd.MomentumPolicy;
import dev.flotilla.strategy.localsgd.OuterOptimizer;
import dev.flotilla.strategy.localsgd.OuterRule;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.norm.PoolOver;
import dev.flotilla.strategy.norm.PooledBatchNorm;
import dev.flotilla.strategy.powersgd.PowerSgd;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.wire.Dtype;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

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

  /** What the checks have to know of a row. */
  public enum Trait {
    /** It is about BatchNorm, so its model has one. */
    NORMED,
    /** On several ranks it decides by the clock: two runs may take different ways. */
    TIMED
  }

  /**
   * A technique, or a permitted combination.
   *
   * @param name what the test report shows
   * @param promise what one rank's result is compared with
   * @param techniques the settings
   * @param rounding how far two ranks may be from one, relative to the weights
   * @param traits what the checks have to know
   * @param optimizer the update rule
   */
  public record Row(
      String name,
      Promise promise,
      List<Strategy> techniques,
      double rounding,
      Set<Trait> traits,
      Optimizer optimizer) {

    Row(String name, Promise promise, List<Strategy> techniques, double rounding) {
      this(name, promise, techniques, rounding, Set.of(), new Momentum(0.1, 0.9));
    }

    Row(String name, Promise promise, List<Strategy> techniques) {
      this(name, promise, techniques, 1e-5);
    }

    Row with(Trait trait) {
      return new Row(name, promise, techniques, rounding, Set.of(trait), optimizer);
    }

    Row with(Optimizer rule) {
      return new Row(name, promise, techniques, rounding, traits, rule);
    }

    /** Returns the same with its techniques in the opposite order. */
    public Row turned() {
      return new Row(name, promise, techniques.reversed(), rounding, traits, optimizer);
    }

    /** Tells whether it has a trait. */
    public boolean has(Trait trait) {
      return traits.contains(trait);
    }

    /** Returns what it is compared with: the same without any technique. */
    public Row baseline() {
      return new Row("baseline", Promise.EXACT, List.of(), rounding, traits, optimizer);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static final double FAR = 1;

  private Conformance() {}

  /** Returns all rows; the first is the baseline. */
  public static Stream<Row> rows() {
    return Stream.concat(techniques(), OptimizerRows.all());
  }

  /**
   * Returns rows that bring in a setting of a technique, or an optimizer; in a thorough build all
   * rows.
   */
  public static Stream<Row> firsts() {
    Set<Object> seen = new HashSet<>();
    return Matrix.isWhole() ? rows() : rows().filter(row -> seen.addAll(parts(row)));
  }

  private static Set<Object> parts(Row row) {
    Set<Object> parts = new HashSet<>(Set.of(row.optimizer().getClass()));
    parts.addAll(row.techniques());
    return parts;
  }

  /** Returns the rows that are about techniques, all with the same optimizer. */
  public static Stream<Row> techniques() {
    return Stream.of(passesAndExchanges(), ShardingRows.all(), averagesAndNorms())
        .flatMap(rows -> rows);
  }

  private static Stream<Row> passesAndExchanges() {
    return Stream.of(
        new Row("baseline", Promise.EXACT, List.of()),
        new Row("clip, never reached", Promise.EXACT, List.of(new ClipByNorm(1e9))),
        new Row("clip", Promise.ALGORITHMIC, List.of(new ClipByNorm(0.5))),
        new Row(
            "clip by value, sharding 2 and merge",
            Promise.ALGORITHMIC,
            List.of(new ClipByValue(0.05), new Sharding(2), new GradientMerge(3))),
        new Row("gradient merge of 1", Promise.EXACT, List.of(new GradientMerge(1))),
        new Row("gradient merge of 3", Promise.ALGORITHMIC, List.of(new GradientMerge(3))),
        new Row(
            "gradient merge and clip",
            Promise.ALGORITHMIC,
            List.of(new GradientMerge(3), new ClipByNorm(0.5))),
        new Row("buckets in backward", Promise.EXACT, List.of(buckets(Dtype.FP32))),
        new Row(
            "buckets, recompute and merge",
            Promise.ALGORITHMIC,
            List.of(buckets(Dtype.FP32), Recompute.every(1), new GradientMerge(3))),
        new Row("bf16 on the wire", Promise.EXACT, List.of(buckets(Dtype.BF16)), 0.05),
        new Row(
            "fp16 on the wire and in passes",
            Promise.ALGORITHMIC,
            List.of(buckets(Dtype.FP16), new MixedPrecision(Dtype.FP16)),
            0.05),
        new Row("recompute", Promise.EXACT, List.of(Recompute.every(1))),
        new Row("recompute in a file", Promise.EXACT, List.of(Recompute.every(1).offloaded())),
        new Row("recompute by plan", Promise.EXACT, List.of(Recompute.auto(1 << 20))),
        new Row(
            "recompute and gradient merge",
            Promise.ALGORITHMIC,
            List.of(Recompute.every(1), new GradientMerge(3))),
        new Row("local SGD of 1", Promise.EXACT, List.of(new LocalSgd(1))),
        local("local SGD of 4", new LocalSgd(4)),
        local("local SGD of 4, momentum averaged", localSgd(MomentumPolicy.AVERAGE, Dtype.FP32)),
        local("local SGD of 4, momentum reset, bf16", localSgd(MomentumPolicy.RESET, Dtype.BF16)),
        local("local SGD behind the next round", behind(Dtype.FP32, null)),
        local(
            "outer Nesterov with int8 behind the next round",
            behind(Dtype.INT8, new OuterOptimizer(OuterRule.NESTEROV, 0.5, 0.5))),
        local("adaptive local SGD", new AdaptiveLocalSgd(4, IntervalRule.FLEET)),
        local("adaptive local SGD by the paper", new AdaptiveLocalSgd(4, IntervalRule.ADACOMM)),
        new Row(
            "local SGD, merge, recompute and fp16",
            Promise.ALGORITHMIC,
            List.of(
                new LocalSgd(4),
                new GradientMerge(3),
                Recompute.every(1),
                new MixedPrecision(Dtype.FP16)),
            0.5),
        half("bf16", new MixedPrecision(Dtype.BF16)),
        half("bf16 and recompute", new MixedPrecision(Dtype.BF16), Recompute.every(1)),
        half("fp16", new MixedPrecision(Dtype.FP16)),
        half(
            "fp16, recompute, merge and clip",
            new MixedPrecision(Dtype.FP16),
            Recompute.every(1),
            new GradientMerge(3),
            new ClipByNorm(0.5)),
        compressed("dgc", dgc()),
        compressed("dgc after a dense phase, packed", dgc(4, Dtype.FP16, IndexFormat.PACKED)),
        compressed("dgc and clip, never reached", dgc(), new ClipByNorm(1e9)),
        compressed("dgc in backward", dgc(), buckets(Dtype.FP32)),
        new Row(
            "dgc, fp16, recompute, merge and clip",
            Promise.ALGORITHMIC,
            List.of(
                dgc(2, Dtype.FP32, IndexFormat.PACKED),
                new MixedPrecision(Dtype.FP16),
                Recompute.every(1),
                new GradientMerge(3),
                new ClipByNorm(0.5)),
            FAR),
        compressed("powersgd", new PowerSgd(1)),
        compressed("powersgd after a dense phase, in backward", lowRank(), buckets(Dtype.FP32)),
        new Row(
            "powersgd, fp16, recompute, merge and clip",
            Promise.ALGORITHMIC,
            List.of(
                lowRank(),
                new MixedPrecision(Dtype.FP16),
                Recompute.every(1),
                new GradientMerge(3),
                new ClipByNorm(0.5)),
            FAR),
        compressed("exchange by what is measured", new AutoExchange(dgc())).with(Trait.TIMED),
        new Row(
                "exchange by what is measured, and merge",
                Promise.ALGORITHMIC,
                List.of(new AutoExchange(dgc()), new GradientMerge(3)),
                FAR)
            .with(Trait.TIMED));
  }

  private static Stream<Row> averagesAndNorms() {
    return Stream.of(
        new Row("moving average of weights", Promise.EXACT, List.of(new Ema(0.9))),
        new Row(
            "moving average, merge, sharding 2 and clip",
            Promise.ALGORITHMIC,
            List.of(
                new Ema(0.9).withWarmup(),
                new GradientMerge(3),
                new Sharding(2),
                new ClipByNorm(0.5))),
        new Row(
            "moving average late and now and then, and sharding 3",
            Promise.EXACT,
            List.of(new Ema(0.8).startingAfter(4).each(3), new Sharding(3))),
        local("moving average and local SGD of 4", new LocalSgd(4), new Ema(0.9)),
        half(
                "moving average, BatchNorm over ranks, fp16 and sharding 1",
                new Ema(0.9),
                new PooledBatchNorm(PoolOver.SYNC),
                new MixedPrecision(Dtype.FP16),
                new Sharding(1))
            .with(Trait.NORMED),
        new Row(
                "BatchNorm over ranks",
                Promise.ROUNDING,
                List.of(new PooledBatchNorm(PoolOver.SYNC)))
            .with(Trait.NORMED),
        new Row(
                "BatchNorm over ranks, and merge",
                Promise.ALGORITHMIC,
                List.of(new PooledBatchNorm(PoolOver.SYNC), new GradientMerge(3)))
            .with(Trait.NORMED),
        new Row(
                "BatchNorm over windows",
                Promise.ALGORITHMIC,
                List.of(new PooledBatchNorm(PoolOver.WHOLE_WINDOW), new GradientMerge(3)))
            .with(Trait.NORMED),
        half(
                "BatchNorm over windows, bf16 and clip",
                new PooledBatchNorm(PoolOver.WHOLE_WINDOW),
                new GradientMerge(3),
                new MixedPrecision(Dtype.BF16),
                new ClipByNorm(0.5))
            .with(Trait.NORMED));
  }

  /** One rank has nobody to send less to; two take another way than one. */
  private static Row compressed(String name, Strategy... techniques) {
    return new Row(name, Promise.EXACT, List.of(techniques), FAR);
  }

  private static Dgc dgc() {
    return dgc(0, Dtype.FP32, IndexFormat.INT32);
  }

  private static Dgc dgc(int denseUpdates, Dtype values, IndexFormat indices) {
    return new Dgc(denseUpdates, 8, List.of(0.5, 0.8)).minNumel(32).sending(values, indices);
  }

  private static PowerSgd lowRank() {
    return new PowerSgd(1, 2, false, 4);
  }

  /** Alone it is the baseline; several ranks go ways of their own between averages. */
  private static Row local(String name, Strategy... techniques) {
    return new Row(name, Promise.EXACT, List.of(techniques), 1.0);
  }

  private static LocalSgd localSgd(MomentumPolicy momentum, Dtype wire) {
    return new LocalSgd(4, 1, momentum, wire, false, AveragingGroup.RANK, null);
  }

  private static LocalSgd behind(Dtype wire, @Nullable OuterOptimizer outer) {
    return new LocalSgd(4, 1, MomentumPolicy.LOCAL, wire, true, AveragingGroup.RANK, outer);
  }

  /** A bucket per layer of the small models here. */
  static FuseAllReduce buckets(Dtype wire) {
    return new FuseAllReduce(1e-4, 50, 0, true, BucketRule.SIZE, wire);
  }

  /** Sums in 16 bits depend on how samples are spread over ranks. */
  static Row half(String name, Strategy... techniques) {
    return new Row(name, Promise.ALGORITHMIC, List.of(techniques), 0.05);
  }
}
