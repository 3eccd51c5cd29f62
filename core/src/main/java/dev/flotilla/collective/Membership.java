package dev.flotilla.collective;

import dev.flotilla.control.JobKey;
import dev.flotilla.control.JobLink;
import java.net.InetAddress;
import java.util.List;
import java.util.stream.Collectors;

/** What a rank needs to form groups with others: the store, its address and the settings. */
record Membership(MeetingPoint store, InetAddress address, CollectiveSettings settings) {

  /** How often ranks connect anew where a connection is not proved. */
  private static final int MOST_TRIES = 3;

  private static final String PROVED = "proved";

  /** Connects the ranks of a group, which have met; {@code name} is the same on all of them. */
  NativeGroup form(String name, Roster roster, int rank) {
    var key = JobLink.ofThisProcess().pairKey();
    return key.isEmpty()
        ? connect(name, roster, rank, new GlooListener(address), RankRelay.of(roster))
        : formProved(name, roster, rank, key.get());
  }

  private NativeGroup connect(
      String name, Roster roster, int rank, GlooListener listener, RankRelay relay) {
    var group =
        GlooConnection.open(
            store,
            name + "/gloo",
            roster,
            rank,
            listener,
            settings,
            () -> {
              if (!roster.isOnLoopback()) {
                listener.hearOnly(roster.sources());
              }
              openRelay(name, roster, rank, listener, relay);
            });
    try {
      // Otherwise a rank could leave while another is still connecting to it, which then fails.
      await(name + "/connected/", rank, roster.size(), roster.self(), "connected");
      return group;
    } catch (RendezvousException e) {
      var strangers = named(listener.strangers(roster));
      group.close();
      throw strangers.isEmpty() ? e : new RendezvousException(e.getMessage() + strangers, e);
    }
  }

  /** Whoever connects must find every rank of another host on its own. */
  private void openRelay(
      String name, Roster roster, int rank, GlooListener listener, RankRelay relay) {
    if (relay.isNeeded()) {
      relay.open(listener.port(), settings.joinTimeout());
      await(name + "/carried/", rank, roster.size(), roster.self(), "carried");
    }
  }

  private static String named(List<String> strangers) {
    return strangers.isEmpty()
        ? ""
        : "; connected to its port, but no member's address: " + String.join(", ", strangers);
  }

  /** Goes on only when every rank has proved every connection of its own. */
  private NativeGroup formProved(String name, Roster roster, int rank, JobKey key) {
    String problems = "";
    for (int attempt = 0; attempt < MOST_TRIES; attempt++) {
      var tried = attempt == 0 ? name : "%s/again %d".formatted(name, attempt);
      var listener = new GlooListener(address);
      try (var relay = RankRelay.of(roster)) {
        var group = connect(tried, roster, rank, listener, relay);
        var own = PairProof.problem(group, tried, rank, key, PairProof.TAKES);
        if (!own.isEmpty()) {
          own += named(listener.strangers(roster));
        }
        problems = problems(tried, roster, rank, own.isEmpty() ? PROVED : own);
        if (problems.isEmpty()) {
          listener.close();
          return group;
        }
        group.close();
      }
    }
    throw new RendezvousException(
        ("unauthenticated peer: %s could not prove its connections in %d tries (%s); a stranger"
                + " reaches the ports of this job: close them to others")
            .formatted(roster.self(), MOST_TRIES, problems));
  }

  /** Returns what ranks say of connections that they could not prove. */
  private String problems(String tried, Roster roster, int rank, String own) {
    return await(tried + "/proof/", rank, roster.size(), roster.self(), own)
        .byRank()
        .entrySet()
        .stream()
        .filter(it -> !it.getValue().equals(PROVED))
        .map(it -> "rank %d: %s".formatted(it.getKey(), it.getValue()))
        .collect(Collectors.joining("; "));
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
