package dev.flotilla.strategy.compress;

import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.StrategyChoice;
import java.util.Optional;

/** How gradients are reduced unless a technique says otherwise. */
public enum ExchangeChoice implements StrategyChoice {
  /** All of them, as they are. */
  DENSE,
  /** In the way that is found to be the fastest. */
  AUTO;

  @Override
  public Optional<Strategy> chosen() {
    return this == AUTO ? Optional.of(new AutoExchange()) : Optional.empty();
  }
}
