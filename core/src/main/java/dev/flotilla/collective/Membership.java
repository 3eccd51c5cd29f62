package dev.flotilla.collective;

import java.net.InetAddress;

/** What a rank needs to form groups with others: the store, its address and the settings. */
record Membership(NativeStore store, InetAddress address, CollectiveSettings settings) {

  /** Waits for all ranks of a group and connects them; {@code name} is the same on all of them. */
  GlooGroup form(String name, Roster roster, int rank) {
    return GlooGroup.connect(store, name + "/gloo", roster, rank, address, settings);
  }

  /** Puts this rank up, and returns all ranks once they are there. */
  Roster meet(String name, PeerInfo self, int rank, int size) {
    var board = store.board(name + "/");
    board.post(Arrival.key(rank), self.format());
    var arrival = new Arrival(board, size);
    if (!arrival.await(settings.joinTimeout())) {
      throw new RendezvousException(absence(arrival, self, size));
    }
    return new Roster(arrival.byRank().values().stream().map(PeerInfo::parse).toList(), rank);
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
