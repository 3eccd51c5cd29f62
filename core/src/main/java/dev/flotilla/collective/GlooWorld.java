package dev.flotilla.collective;

import dev.flotilla.control.JobLink;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.world.RankEnvironment;
import dev.flotilla.world.Rendezvous;
import dev.flotilla.world.World;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** Brings all ranks of a job together, and takes this one out again. */
final class GlooWorld {

  private static final Duration FAREWELL = Duration.ofSeconds(2);
  private static final String NAME = "world";

  private final World world;
  private final MeetingPoint store;
  private final InetAddress address;
  private final CollectiveSettings settings;

  private GlooWorld(
      World world, MeetingPoint store, InetAddress address, CollectiveSettings settings) {
    this.world = world;
    this.store = store;
    this.address = address;
    this.settings = settings;
  }

  /**
   * Meets the other ranks.
   *
   * @param device where this rank computes
   */
  static Collective join(
      World world,
      CollectiveSettings settings,
      Map<String, String> environment,
      ComputeDevice device) {
    var offer = settings.backend().offer(device);
    var meeting =
        switch (world.rendezvous()) {
          case Rendezvous.None _ -> inFile(world, ownFile(), settings);
          case Rendezvous.SharedFile shared -> inFile(world, shared.file(), settings);
          case Rendezvous.Tcp tcp -> overTcp(world, tcp, settings, environment);
        };
    return meeting.join(offer, device);
  }

  private static GlooWorld inFile(World world, Path file, CollectiveSettings settings) {
    var loopback = InetAddress.getLoopbackAddress();
    return new GlooWorld(world, NativeStore.inFile(file), loopback, settings);
  }

  /** A rank that is alone meets nobody, but native groups want a place to meet. */
  private static Path ownFile() {
    try {
      var file = Files.createTempFile("flotilla-alone", ".store");
      file.toFile().deleteOnExit();
      return file;
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot write to the folder for temporary files", failure);
    }
  }

  private static GlooWorld overTcp(
      World world,
      Rendezvous.Tcp tcp,
      CollectiveSettings settings,
      Map<String, String> environment) {
    var master = MasterAddress.resolve(tcp);
    var relayed = environment.get(RankEnvironment.RELAY_ADDRESS);
    if (relayed != null) {
      var meeting = meetingPoint(world, tcp, master, settings, environment);
      return new GlooWorld(world, meeting, InetAddress.ofLiteral(relayed), settings);
    }
    var network = environment.getOrDefault("GLOO_SOCKET_IFNAME", "").split(",", 2)[0].strip();
    var chosen = network.isEmpty() ? null : LocalAddress.ofInterface(network);
    var store = meetingPoint(world, tcp, master, settings, environment);
    try {
      var seen = new MasterViews(store.prefixed(NAME + "/master/"), world, master);
      var address = chosen == null ? seen.localAddress(settings.joinTimeout()) : chosen;
      return new GlooWorld(world, store, address, settings);
    } catch (RuntimeException e) {
      store.close();
      throw e;
    }
  }

  /** Ranks that have launchers meet through these; without, a store is served at the master's. */
  private static MeetingPoint meetingPoint(
      World world,
      Rendezvous.Tcp tcp,
      MasterAddress master,
      CollectiveSettings settings,
      Map<String, String> environment) {
    var values = JobLink.ofThisProcess().values();
    var folder = RankEnvironment.controlFolder(environment);
    if (values.isPresent() && folder.isPresent()) {
      var meeting = "meeting " + values.get().nextMeeting();
      return ControlMeeting.begin(
          values.get(), meeting, newFile(folder.get(), world), settings.joinTimeout());
    }
    return world.isLeader() && !tcp.hostedElsewhere()
        ? NativeStore.serve(master, world.isOneHost(), settings.joinTimeout())
        : NativeStore.connect(master, world.rank(), settings.joinTimeout());
  }

  private static Path newFile(Path folder, World world) {
    try {
      return Files.createTempFile(folder, "store." + world.rank() + ".", "");
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot write to the launcher's folder", failure);
    }
  }

  private Collective join(String offer, ComputeDevice device) {
    try {
      var self = PeerInfo.here(world.rank(), address, offer);
      claimRank(self);
      var membership = new Membership(store, address, settings);
      var roster = membership.meet(NAME, self, world.rank(), world.size());
      var ledger = new TrafficLedger(null);
      var member = new GlooMember(membership, NAME, roster, world.rank(), ledger);
      var host = new GlooCollective(member, settings.timeout(), new Leaving(member));
      return settings.backend().isNcclFor(roster)
          ? withGpus(host, membership, roster, device)
          : new HostStaging(host);
    } catch (RuntimeException e) {
      store.close();
      throw e;
    }
  }

  private Collective withGpus(
      Collective host, Membership membership, Roster roster, ComputeDevice device) {
    try {
      var member = new NcclMember(membership, NAME, roster, world.rank(), device, null);
      return new NcclCollective(host, member, settings.timeout());
    } catch (RuntimeException e) {
      host.close();
      throw e;
    }
  }

  private void claimRank(PeerInfo self) {
    if (store.claim(NAME + "/claim/" + world.rank()) > 1) {
      throw new RendezvousException(
          ("%s is not the first rank %d at %s: either two processes have this rank, or the meeting"
                  + " point is left over from an earlier run; every run needs a fresh one")
              .formatted(self, world.rank(), store.place()));
    }
  }

  /** Leaves once; the rank that serves the store is the last to go, if the others still can. */
  private final class Leaving implements Runnable {

    private final GlooMember member;
    private boolean hasLeft;

    Leaving(GlooMember member) {
      this.member = member;
    }

    @Override
    public void run() {
      if (hasLeft) {
        return;
      }
      hasLeft = true;
      var closing = new Closing();
      closing.close(member::close);
      sayFarewell();
      store.close();
      closing.rethrow();
    }

    private void sayFarewell() {
      try {
        var farewells = store.prefixed(NAME + "/farewell/");
        farewells.set(Arrival.key(world.rank()), "bye");
        if (store.isServed() && !member.group().hasFailed()) {
          new Arrival(farewells, world.size()).await(FAREWELL);
        }
      } catch (RendezvousException e) {
        // The store went first: nobody is left to wait for.
      }
    }
  }
}
