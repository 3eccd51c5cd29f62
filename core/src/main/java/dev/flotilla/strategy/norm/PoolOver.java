package dev.flotilla.strategy.norm;

import dev.flotilla.settings.Remedy;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.StrategyChoice;
import java.util.Optional;

/** The samples that count as one batch for BatchNorm. */
@Remedy.Offer(value = Remedy.POOLED_STATISTICS, as = "%s: whole_window")
public enum PoolOver implements StrategyChoice {
  /** Those of one micro-batch on one rank, as everywhere else. */
  MICRO_BATCH,
  /** Those of a whole accumulation window on all ranks. */
  WHOLE_WINDOW,
  /** Those of one micro-step on all ranks. */
  SYNC;

  @Override
  public Optional<Strategy> chosen() {
    return this == MICRO_BATCH ? Optional.empty() : Optional.of(new PooledBatchNorm(this));
  }
}
