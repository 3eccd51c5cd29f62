package dev.flotilla.strategy.localsgd;

/** How the next interval follows from loss and learning rate. */
public enum IntervalRule {
  /** Fleet's: ⌈√(k₀ · η₀ F / (η F₀))⌉. */
  FLEET,
  /**
   * The paper's (Wang and Joshi, 2019): ⌈k₀ · √(η₀ F / (η F₀))⌉, or a fraction of the interval
   * before where that would not be smaller.
   */
  ADACOMM
}
