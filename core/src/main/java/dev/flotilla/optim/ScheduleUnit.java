package dev.flotilla.optim;

/** What a schedule counts. */
public enum ScheduleUnit {
  /** Updates. */
  UPDATE,
  /** Epochs: the rate is the same throughout each. */
  EPOCH
}
