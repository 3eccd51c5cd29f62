package dev.flotilla.booster;

import dev.flotilla.settings.Check;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import java.util.ArrayList;
import java.util.List;

/** Puts together what several plugins have settings for. */
final class PluginParts {

  private final List<Strategy> techniques = new ArrayList<>();

  static Check check(Dtype precision, double maxNorm) {
    return checkPrecision(precision)
        .and(
            maxNorm >= 0 && Double.isFinite(maxNorm),
            "max_norm",
            "must be greater than 0, or 0 for no clipping",
            maxNorm);
  }

  static Check checkPrecision(Dtype precision) {
    return Check.that(
        precision == Dtype.FP32 || precision.isHalf(),
        "precision",
        "must be fp32, bf16 or fp16",
        precision.word());
  }

  PluginParts with(Strategy technique) {
    techniques.add(technique);
    return this;
  }

  /** Buckets are for those who have somebody to send them to. */
  PluginParts buckets(FuseAllReduce buckets, World world) {
    return world.isSolo() ? this : with(buckets);
  }

  PluginParts precision(Dtype precision) {
    return precision.isHalf() ? with(new MixedPrecision(precision)) : this;
  }

  PluginParts clip(double maxNorm) {
    return maxNorm > 0 ? with(new ClipByNorm(maxNorm)) : this;
  }

  List<Strategy> techniques() {
    return List.copyOf(techniques);
  }
}
