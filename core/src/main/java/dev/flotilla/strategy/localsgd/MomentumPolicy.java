package dev.flotilla.strategy.localsgd;

/** What becomes of the optimizer's memory (velocity, or Adam's moments) when ranks average. */
public enum MomentumPolicy {
  /** Each rank keeps its own. */
  LOCAL,
  /**
   * It is averaged like the parameters; doubles the bytes with momentum, triples them with Adam.
   */
  AVERAGE,
  /** It starts anew at zero, Adam's counter included. */
  RESET
}
