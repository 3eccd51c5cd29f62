package dev.flotilla.testkit;

import static dev.flotilla.testkit.Conformance.buckets;
import static dev.flotilla.testkit.Conformance.half;

import dev.flotilla.settings.ByteSize;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.ema.Ema;
import dev.flotilla.strategy.localsgd.AveragingGroup;
import dev.flotilla.strategy.localsgd.LocalSgd;
import dev.flotilla.strategy.localsgd.MomentumPolicy;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.norm.PoolOver;
import dev.flotilla.strategy.norm.PooledBatchNorm;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.strategy.shard.Offload;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.testkit.Conformance.Promise;
import dev.flotilla.testkit.Conformance.Row;
import dev.flotilla.testkit.Conformance.Trait;
import dev.flotilla.wire.Dtype;
import java.util.List;
import java.util.stream.Stream;

/** The rows of the conformance table that are about sharding, stage by stage. */
final class ShardingRows {

  private ShardingRows() {}

  private static Sharding halves(int stage) {
    return new Sharding(stage).withParameters(Dtype.BF16);
  }

  private static LocalSgd betweenHosts(boolean overlap) {
    return new LocalSgd(4, 1, MomentumPolicy.LOCAL, Dtype.FP32, overlap, AveragingGroup.HOST, null);
  }

  static Stream<Row> all() {
    return Stream.of(
        new Row("sharding 1", Promise.EXACT, List.of(new Sharding(1))),
        new Row(
            "sharding 1 in buckets, and clip, never reached",
            Promise.EXACT,
            List.of(new Sharding(1), buckets(Dtype.FP32), new ClipByNorm(1e9))),
        new Row(
            "sharding 1, recompute, merge and clip",
            Promise.ALGORITHMIC,
            List.of(
                new Sharding(1), Recompute.every(1), new GradientMerge(3), new ClipByNorm(0.5))),
        new Row(
            "sharding 1, bf16 on the wire",
            Promise.EXACT,
            List.of(new Sharding(1), buckets(Dtype.BF16)),
            0.05),
        new Row("sharding 2", Promise.EXACT, List.of(new Sharding(2))),
        new Row(
            "sharding 2 in buckets, merge and clip",
            Promise.ALGORITHMIC,
            List.of(
                new Sharding(2), buckets(Dtype.FP32), new GradientMerge(3), new ClipByNorm(0.5))),
        new Row(
            "sharding 2, recompute, and merge without a word before the window ends",
            Promise.ALGORITHMIC,
            List.of(new Sharding(2, true), Recompute.every(1), new GradientMerge(3))),
        new Row(
            "sharding 2, bf16 on the wire, merge and clip",
            Promise.ALGORITHMIC,
            List.of(
                new Sharding(2), buckets(Dtype.BF16), new GradientMerge(3), new ClipByNorm(0.5)),
            0.05),
        half("sharding 2 and bf16", new Sharding(2), new MixedPrecision(Dtype.BF16)),
        new Row(
            "sharding 3, and recompute by plan",
            Promise.EXACT,
            List.of(new Sharding(3), Recompute.auto(1 << 20))),
        new Row("sharding 3", Promise.EXACT, List.of(new Sharding(3))),
        new Row(
            "sharding 3 in buckets, recompute, merge and clip",
            Promise.ALGORITHMIC,
            List.of(
                new Sharding(3),
                buckets(Dtype.FP32),
                Recompute.every(1),
                new GradientMerge(3),
                new ClipByNorm(0.5))),
        new Row(
            "sharding 3, bf16 on the wire",
            Promise.EXACT,
            List.of(new Sharding(3), buckets(Dtype.BF16)),
            0.05),
        new Row(
            "sharding 3 beside the device, and parameters that stay",
            Promise.EXACT,
            List.of(
                new Sharding(3)
                    .withOffload(Offload.OPTIMIZER_AND_PARAMETERS)
                    .withKeepGathered(new ByteSize(2048)))),
        new Row(
            "sharding 1, and local SGD between hosts",
            Promise.EXACT,
            List.of(new Sharding(1), betweenHosts(false))),
        new Row(
            "sharding 2, local SGD between hosts, merge and clip",
            Promise.ALGORITHMIC,
            List.of(
                new Sharding(2), betweenHosts(false), new GradientMerge(3), new ClipByNorm(0.5))),
        new Row(
            "sharding 3, local SGD between hosts behind the next round, and ema",
            Promise.EXACT,
            List.of(new Sharding(3), betweenHosts(true), new Ema(0.9))),
        half("sharding 3 and bf16", new Sharding(3), new MixedPrecision(Dtype.BF16)),
        half(
            "sharding 1, parameters in bf16, in buckets, recompute, merge and clip",
            halves(1),
            buckets(Dtype.FP32),
            new MixedPrecision(Dtype.BF16),
            Recompute.every(1),
            new GradientMerge(3),
            new ClipByNorm(0.5)),
        half(
                "sharding 3, parameters in bf16 beside the device, BatchNorm over ranks, and ema",
                halves(3).withOffload(Offload.OPTIMIZER_AND_PARAMETERS),
                new MixedPrecision(Dtype.BF16),
                new PooledBatchNorm(PoolOver.SYNC),
                new Ema(0.9))
            .with(Trait.NORMED),
        half("sharding 1 and fp16", new Sharding(1), new MixedPrecision(Dtype.FP16)),
        half(
            "sharding 2, fp16 and merge",
            new Sharding(2),
            new MixedPrecision(Dtype.FP16),
            new GradientMerge(3)),
        half(
                "sharding 3, fp16, BatchNorm over ranks, and clip",
                new Sharding(3),
                new MixedPrecision(Dtype.FP16),
                new PooledBatchNorm(PoolOver.SYNC),
                new ClipByNorm(0.5))
            .with(Trait.NORMED),
        new Row(
                "sharding 3, and BatchNorm over windows",
                Promise.ALGORITHMIC,
                List.of(
                    new Sharding(3),
                    new PooledBatchNorm(PoolOver.WHOLE_WINDOW),
                    new GradientMerge(3)))
            .with(Trait.NORMED));
  }
}
