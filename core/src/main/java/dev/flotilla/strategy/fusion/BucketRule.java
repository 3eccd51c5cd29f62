package dev.flotilla.strategy.fusion;

/** How buckets are cut. */
public enum BucketRule {
  /** By bytes and number of tensors, as stated. */
  SIZE,
  /** By the measured latency and rate of the link and the time at which each gradient is ready. */
  MG_WFBP
}
