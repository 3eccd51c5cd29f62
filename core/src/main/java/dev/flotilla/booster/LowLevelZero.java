package dev.flotilla.booster;

import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import java.util.List;
import java.util.Optional;

/**
 * Ranks share out the optimizer's memory (stage 1), and gradients too (stage 2), as Colossal-AI's
 * LowLevelZeroPlugin does.
 *
 * <p>Parameters and their master copy are float32, one and the same, unless the sharding has
 * parameters in bf16; the precision is that of forward and backward.
 *
 * @param sharding the stage, and whether stage 2 sends nothing before a step
 * @param precision what forward and backward compute in: fp32, bf16 or fp16
 * @param maxNorm largest norm of the gradient over all ranks' slices; 0 for no clipping
 * @param buckets how gradients are put together for the wire
 */
public record LowLevelZero(
    Sharding sharding, Dtype precision, double maxNorm, FuseAllReduce buckets) implements Plugin {

  /** Checks the settings. */
  public LowLevelZero {
    PluginParts.check(precision, maxNorm).orThrow();
  }

  /** Takes stage 1. */
  public LowLevelZero() {
    this(1);
  }

  /** Takes a stage, with the usual buckets, in float32, without clipping. */
  public LowLevelZero(int stage) {
    this(new Sharding(stage));
  }

  /** Takes a stage with its settings, with the usual buckets, in float32, without clipping. */
  public LowLevelZero(Sharding sharding) {
    this(sharding, Dtype.FP32, 0, new FuseAllReduce());
  }

  /** Returns the same with forward and backward in another precision. */
  public LowLevelZero withPrecision(Dtype other) {
    return new LowLevelZero(sharding, other, maxNorm, buckets);
  }

  /** Returns the same with the gradient clipped to a norm; 0 for no clipping. */
  public LowLevelZero withMaxNorm(double norm) {
    return new LowLevelZero(sharding, precision, norm, buckets);
  }

  /** Returns the same with buckets of so many megabytes. */
  public LowLevelZero withBucketMb(double megabytes) {
    return new LowLevelZero(sharding, precision, maxNorm, buckets.sized(megabytes));
  }

  @Override
  public List<Strategy> techniques(World world) {
    return new PluginParts()
        .with(sharding)
        .buckets(buckets, world)
        .precision(precision)
        .clip(maxNorm)
        .techniques();
  }

  @Override
  public Optional<String> refusalOfNoSync() {
    return refusalOfNoSync(sharding);
  }

  static Optional<String> refusalOfNoSync(Sharding sharding) {
    return sharding.stage() == 1 || sharding.noSync()
        ? Optional.empty()
        : Optional.of(
            "at stage %d a rank keeps slices of the gradients alone, so each micro-step must reduce"
                    .formatted(sharding.stage())
                + " its own; leave out noSync, as micro-steps add up until step without it, or use"
                + " stage 1 or new Sharding(2, true), which send nothing before step");
  }
}
