package dev.flotilla.exchange;

import dev.flotilla.collective.Pending;

/**
 * One of the steps that reduce a bucket: a collective with the computing that comes before it, or
 * computing alone, such as the decoding of what has arrived. It starts when the stage before it has
 * arrived, on the thread of the exchange.
 */
@FunctionalInterface
public interface Stage {

  /**
   * Starts the step.
   *
   * @return what is awaited on another thread while other buckets go on, or {@link Pending#DONE}
   *     without a collective. Awaiting it starts no collectives, as ranks would come to them in
   *     different orders
   */
  Pending start();
}
