package dev.flotilla.collective;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Adds up what one rank sent over a group, and how long it waited there; over the group that group
 * was taken from too.
 */
final class TrafficLedger {

  private static final TrafficCount NOTHING = new TrafficCount(0, 0);

  private final ConcurrentHashMap<Traffic, TrafficCount> counts = new ConcurrentHashMap<>();
  private final AtomicLong waited = new AtomicLong();
  private final @Nullable TrafficLedger parent;

  TrafficLedger(@Nullable TrafficLedger parent) {
    this.parent = parent;
  }

  void add(Traffic traffic, long bytes) {
    counts.merge(traffic, new TrafficCount(1, bytes), TrafficCount::plus);
    if (parent != null) {
      parent.add(traffic, bytes);
    }
  }

  /** Returns an operation that adds the time for which it is awaited. */
  Pending timed(Pending operation) {
    return () -> {
      long start = System.nanoTime();
      operation.await();
      waited(System.nanoTime() - start);
    };
  }

  private void waited(long nanos) {
    waited.addAndGet(nanos);
    if (parent != null) {
      parent.waited(nanos);
    }
  }

  long waitedNanos() {
    return waited.get();
  }

  TrafficCount count(Traffic traffic) {
    return counts.getOrDefault(traffic, NOTHING);
  }
}
