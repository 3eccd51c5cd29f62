package dev.flotilla.strategy.localsgd;

/** Update rules of the outer optimizer. */
public enum OuterRule {
  /** θ ← θ − η Δ. */
  SGD,
  /** u ← m u + Δ; θ ← θ − η (Δ + m u). */
  NESTEROV
}
