package dev.flotilla.exchange;

import dev.flotilla.collective.Pending;

/**
 * One of the collectives that reduce a bucket, with the computing that comes before it. It starts
 * when the stage before it has arrived, on the thread of the exchange.
 */
@FunctionalInterface
public interface Stage {

  /**
   * Starts the collective.
   *
   * @return what is awaited on another thread while other buckets go on; it starts no collectives,
   *     as ranks would come to them in different orders
   */
  Pending start();
}
