package dev.flotilla.train;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Traffic;
import dev.flotilla.collective.TrafficCount;
import dev.flotilla.state.RunState;
import java.util.EnumMap;
import java.util.Map;

/** What a rank sent in earlier attempts at its run, so that totals are those of the whole run. */
final class SentBefore {

  private static final TrafficCount NOTHING = new TrafficCount(0, 0);

  private final Map<Traffic, TrafficCount> before = new EnumMap<>(Traffic.class);

  TrafficCount plus(Traffic traffic, Collective collective) {
    var earlier = before.getOrDefault(traffic, NOTHING);
    var now = collective.count(traffic);
    return new TrafficCount(
        earlier.operations() + now.operations(), earlier.bytesSent() + now.bytesSent());
  }

  /** Puts down the totals, or takes up those of earlier attempts less what this one has sent. */
  void remember(RunState state, Collective collective) {
    for (var traffic : Traffic.values()) {
      var total = plus(traffic, collective);
      var now = collective.count(traffic);
      var part = state.own().part("sent/" + traffic.name().toLowerCase(java.util.Locale.ROOT));
      before.put(
          traffic,
          new TrafficCount(
              part.number("operations", total.operations()) - now.operations(),
              part.number("bytes", total.bytesSent()) - now.bytesSent()));
    }
  }
}
