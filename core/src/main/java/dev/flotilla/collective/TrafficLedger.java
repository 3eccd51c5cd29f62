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
    counts.merge(traffic, new TrafficCount(1, bytes), TrafficCount::plus);
    if (parent != null) {
      parent.add(traffic, bytes);
    }
  }

  TrafficCount count(Traffic traffic) {
    return counts.getOrDefault(traffic, NOTHING);
  }
}
