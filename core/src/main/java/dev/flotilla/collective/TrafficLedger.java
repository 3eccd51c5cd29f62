package dev.flotilla.collective;

import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Adds up what one rank sent over a group, and over the group that group was taken from. */
final class TrafficLedger {

  private static final TrafficCount NOTHING = new TrafficCount(0, 0);

  private final ConcurrentHashMap<Traffic, TrafficCount> counts = new ConcurrentHashMap<>();
  private final @Nullable TrafficLedger parent;

  TrafficLedger(@Nullable TrafficLedger parent) {
    this.parent = parent;
  }

  void add(Traffic traffic, long bytes) {
    counts.merge(traffic, new TrafficCount(1, bytes), TrafficLedger::sum);
    if (parent != null) {
      parent.add(traffic, bytes);
    }
  }

  TrafficCount count(Traffic traffic) {
    return counts.getOrDefault(traffic, NOTHING);
  }

  private static TrafficCount sum(TrafficCount a, TrafficCount b) {
    return new TrafficCount(a.operations() + b.operations(), a.bytesSent() + b.bytesSent());
  }
}
