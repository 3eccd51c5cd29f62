package dev.flotilla.model;

/**
 * State of a model that is saved with it but not trained, such as running statistics.
 *
 * @param name published name, for example {@code bn1.running_mean}
 * @param shape extents
 * @param kind what it is, which decides what ranks do with it
 * @param initial value of every element at the start
 */
public record BufferSpec(String name, Shape shape, Kind kind, double initial) {

  /** What a buffer is. */
  public enum Kind {
    /** A running statistic of batches, averaged over ranks by the samples they have seen. */
    STATISTIC,
    /** An int64 counter, never averaged. */
    COUNTER,
    /** What else a user's module keeps: taken over with its type, never averaged. */
    OTHER
  }

  /** Tells whether it is a running statistic of batches. */
  public boolean isStatistic() {
    return kind == Kind.STATISTIC;
  }

  /** Returns the name of the layer that it belongs to. */
  public String layer() {
    return name.substring(0, Math.max(0, name.lastIndexOf('.')));
  }
}
