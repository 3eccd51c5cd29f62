package dev.flotilla.collective;

/** What a collective is for; reports count each kind apart. */
public enum Traffic {
  /** Gradients or parameters during training. */
  EXCHANGE,
  /** What accompanies training: counts, votes, metrics, running statistics. */
  SCALAR,
  /** The broadcast of parameters and buffers at the start. */
  START
}
