package dev.flotilla.collective;

/** A collective that was started and must be awaited. */
@FunctionalInterface
public interface Pending {

  /** An operation that is already done. */
  Pending DONE = () -> {};

  /**
   * Waits until the operation is done on this rank.
   *
   * @throws CollectiveException if a peer or link failed, or the timeout passed
   */
  void await();
}
