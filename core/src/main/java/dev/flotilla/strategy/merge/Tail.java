package dev.flotilla.strategy.merge;

/** What happens to the incomplete last accumulation window of an epoch. */
public enum Tail {
  /** It is updated with, divided by what it really holds. */
  FLUSH,
  /** It goes on in the next epoch; what is left at the end of the run is lost. */
  CARRY,
  /** Its gradients are thrown away. */
  DROP
}
