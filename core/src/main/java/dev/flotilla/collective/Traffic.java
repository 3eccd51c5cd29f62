package dev.flotilla.collective;

/** What a collective is for; reports count each kind apart. */
public enum Traffic {
  /** Gradients or parameters during training. */
  EXCHANGE,
  /** A few numbers: counts, votes, metrics. */
  SCALAR,
  /** The broadcast of parameters and buffers at the start. */
  START
}
