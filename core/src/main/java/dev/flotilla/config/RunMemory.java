package dev.flotilla.config;

import dev.flotilla.pass.BoundModel;
import dev.flotilla.settings.NamePatterns;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.strategy.shard.StageMemory;
import dev.flotilla.wire.Dtype;
import java.util.List;
import java.util.Optional;

/** What a rank keeps between updates by a recipe: counted, without native code. */
public final class RunMemory {

  private final RunConfig config;
  private final int ranks;

  /**
   * Counts for a recipe.
   *
   * @param ranks those that hold the same parameters at all times, and may keep slices of them
   */
  RunMemory(RunConfig config, int ranks) {
    this.config = config;
    this.ranks = ranks;
  }

  /**
   * Returns the bytes that parameters, gradients, what the optimizer remembers of them and their
   * moving average take on each rank, as far as the optimizer says.
   */
  public long arenaBytes() {
    var model = config.model();
    long all = BoundModel.layoutOf(model, config.precision(), _ -> false).bytes();
    var frozen = NamePatterns.anyOf(config.freeze());
    long trained = BoundModel.layoutOf(model, config.precision(), frozen).bytes();
    return all + trained * (1 + numbersPerParameter());
  }

  /** Returns what of them the rank keeps that keeps most, with the recipe's stage of sharding. */
  public long stateBytes() {
    var stages = byStage();
    return arenaBytes() - (stages.getFirst().kept() - stages.get(stage()).kept());
  }

  /** A moving average is kept, and cut, like what the optimizer remembers. */
  private int numbersPerParameter() {
    return config.optimizer().numbersPerParameter().orElse(0) + (config.ema() == null ? 0 : 1);
  }

  /**
   * Returns what trainable parameters, gradients and optimizer take on the rank that keeps most,
   * without sharding and with each stage, as far as the optimizer says.
   */
  public List<StageMemory> byStage() {
    var frozen = NamePatterns.anyOf(config.freeze());
    return StageMemory.ofAll(
        config.model(),
        BoundModel.layoutOf(config.model(), config.precision(), frozen),
        numbersPerParameter(),
        ranks,
        wire(),
        shardedParameters());
  }

  /** Returns the type of parameters where they are sharded. */
  public Dtype shardedParameters() {
    return sharding().map(Sharding::parameters).orElse(Dtype.FP32);
  }

  private Optional<Sharding> sharding() {
    return config.techniques().stream()
        .filter(Sharding.class::isInstance)
        .map(Sharding.class::cast)
        .findFirst();
  }

  private Dtype wire() {
    return config.techniques().stream()
        .filter(FuseAllReduce.class::isInstance)
        .map(FuseAllReduce.class::cast)
        .map(FuseAllReduce::wire)
        .findFirst()
        .orElse(Dtype.FP32);
  }

  /** Returns the stage of sharding whose memory a run of the recipe takes; 0 for none. */
  public int stage() {
    return sharding().map(it -> it.noSync() ? 1 : it.stage()).orElse(0);
  }
}
