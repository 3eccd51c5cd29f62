package dev.flotilla.train;

/**
 * What happens when the loss or the gradient of an accumulation window is infinite or undefined.
 */
public enum NonFinite {
  /** The run ends. */
  STOP,
  /** The window is left out and training goes on; many in a row end the run. */
  SKIP,
  /** The last checkpoint is restored, and the data since then are left out. */
  ROLLBACK
}
