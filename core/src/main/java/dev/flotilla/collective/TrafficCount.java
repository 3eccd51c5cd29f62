package dev.flotilla.collective;

/**
 * What one rank sent.
 *
 * @param operations number of collectives
 * @param bytesSent bytes this rank put on the wire by the algorithm's cost model: a ring all-reduce
 *     of S bytes over n ranks sends 2 (n - 1) / n S
 */
public record TrafficCount(long operations, long bytesSent) {

  /** Returns this and another count together. */
  TrafficCount plus(TrafficCount other) {
    return new TrafficCount(operations + other.operations, bytesSent + other.bytesSent);
  }
}
