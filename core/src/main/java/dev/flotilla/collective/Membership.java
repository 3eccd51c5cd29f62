package dev.flotilla.collective;

import java.net.InetAddress;

/** What a rank needs to form groups with others: the store, its address and the settings. */
record Membership(NativeStore store, InetAddress address, CollectiveSettings settings) {

  /** Connects the ranks of a group, which have met; {@code name} is the same on all of them. */
  NativeGroup form(String name, Roster roster, int rank) {
    var group = GlooConnection.open(store, name + "/gloo", roster, rank, address, settings);
    try {
      // Otherwise a rank could leave while another is still connecting to it, which then fails.
      await(name + "/connected/", rank, roster.size(), roster.self(), "connected");
      return group;
    } catch (RendezvousException e) {
      group.close();
      throw e;
    }
  }

  /** Puts this rank up, and returns all ranks once they are there. */
  Roster meet(String name, PeerInfo self, int rank, int size) {
    var arrival = await(name + "/arrived/", rank, size, self, self.format());
    return new Roster(arrival.byRank().values().stream().map(PeerInfo::parse).toList(), rank);
  }

  private Arrival await(String prefix, int rank, int size, PeerInfo self, String value) {
    var arrivals = store.prefixed(prefix);
    arrivals.set(Arrival.key(rank), value);
    var arrival = new Arrival(arrivals, size);
    if (!arrival.await(settings.joinTimeout())) {
      throw new RendezvousException(absence(arrival, self, size));
    }
    return arrival;
  }

  private String absence(Arrival arrival, PeerInfo self, int size) {
    return ("%s waited %s at %s, but %s of %d did not arrive; check that all ranks were started,"
            + " with the same WORLD_SIZE and meeting point")
        .formatted(
            self,
            Deadline.seconds(settings.joinTimeout()),
            store.place(),
            Arrival.name(arrival.missing()),
            size);
  }
}
