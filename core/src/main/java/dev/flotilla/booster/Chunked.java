package dev.flotilla.booster;

import dev.flotilla.settings.Check;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import java.util.List;
import java.util.Optional;

/**
 * Ranks share out parameters, gradients and the optimizer's memory, and gather the parameters of a
 * segment when it runs, as Colossal-AI's GeminiPlugin does with chunks.
 *
 * @param sharding stage 3 with its settings
 * @param precision what forward and backward compute in: fp32, bf16 or fp16
 * @param maxNorm largest norm of the gradient over all ranks' slices; 0 for no clipping
 */
public record Chunked(Sharding sharding, Dtype precision, double maxNorm) implements Plugin {

  private static final int STAGE = 3;

  /** Checks the settings. */
  public Chunked {
    PluginParts.check(precision, maxNorm).orThrow();
    Check.that(sharding.stage() == STAGE, "stage", "must be " + STAGE, sharding.stage()).orThrow();
  }

  /** Takes stage 3 as it is by default, in float32, without clipping. */
  public Chunked() {
    this(new Sharding(STAGE), Dtype.FP32, 0);
  }

  /** Returns the same with forward and backward in another precision. */
  public Chunked withPrecision(Dtype other) {
    return new Chunked(sharding, other, maxNorm);
  }

  /** Returns the same with the gradient clipped to a norm; 0 for no clipping. */
  public Chunked withMaxNorm(double norm) {
    return new Chunked(sharding, precision, norm);
  }

  @Override
  public List<Strategy> techniques(World world) {
    return new PluginParts().with(sharding).precision(precision).clip(maxNorm).techniques();
  }

  @Override
  public Optional<String> refusalOfNoSync() {
    return LowLevelZero.refusalOfNoSync(sharding);
  }
}
