package dev.flotilla.booster;

import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import java.util.List;

/**
 * Every rank holds the whole model, and gradients are averaged once per update, as PyTorch's
 * DistributedDataParallel and Colossal-AI's TorchDDPPlugin do.
 *
 * @param buckets how gradients are put together for the wire
 * @param precision what forward and backward compute in: fp32, bf16 or fp16
 */
public record DataParallel(FuseAllReduce buckets, Dtype precision) implements Plugin {

  /** Checks the settings. */
  public DataParallel {
    PluginParts.checkPrecision(precision).orThrow();
  }

  /** Takes the usual buckets, in float32. */
  public DataParallel() {
    this(new FuseAllReduce(), Dtype.FP32);
  }

  /** Returns the same with forward and backward in another precision; parameters stay float32. */
  public DataParallel withPrecision(Dtype other) {
    return new DataParallel(buckets, other);
  }

  /** Returns the same with buckets of so many megabytes. */
  public DataParallel withBucketMb(double megabytes) {
    return new DataParallel(buckets.sized(megabytes), precision);
  }

  @Override
  public List<Strategy> techniques(World world) {
    return new PluginParts().buckets(buckets, world).precision(precision).techniques();
  }
}
