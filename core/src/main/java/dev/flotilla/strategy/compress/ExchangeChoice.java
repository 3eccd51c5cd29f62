package dev.flotilla.strategy.compress;

/** How gradients are reduced unless a technique says otherwise. */
public enum ExchangeChoice {
  /** All of them, as they are. */
  DENSE,
  /** In the way that is found to be the fastest. */
  AUTO
}
