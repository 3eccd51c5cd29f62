package dev.flotilla.arena;

/**
 * The numbers behind the last gradient: the accumulation window's loss sum, and its count in two
 * parts.
 */
interface Tail extends AutoCloseable {

  /** Writes a part of the count. */
  void set(int index, double value);

  /** Reads a number, waiting for what has been started before where they live on a device. */
  double get(int index);

  /** Hears that the numbers have changed by other means. */
  default void changed() {}

  @Override
  default void close() {}
}
