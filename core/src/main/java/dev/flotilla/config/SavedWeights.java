package dev.flotilla.config;

/** Which of a run's weights to use. */
public enum SavedWeights {
  /** Those that were trained. */
  LIVE,
  /** Their moving average, in runs that keep one. */
  EMA
}
