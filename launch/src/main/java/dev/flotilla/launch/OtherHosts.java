package dev.flotilla.launch;

import dev.flotilla.control.AcceptLimit;
import dev.flotilla.control.Dial;
import dev.flotilla.control.FailureNotice;
import dev.flotilla.control.Frame;
import dev.flotilla.control.Hub;
import dev.flotilla.control.JobKey;
import dev.flotilla.control.LocalSocket;
import dev.flotilla.control.Peer;
import dev.flotilla.control.RankPlace;
import dev.flotilla.launch.tls.Relays;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What this launcher knows of those of the job's other hosts, and tells them.
 *
 * <p>All of them connect to the first host's launcher, at the port after the master's; it passes on
 * what one says, and decides for all.
 */
final class OtherHosts {

  private static final Duration CONNECTING_TAKES = Duration.ofSeconds(60);
  private static final Peer FIRST = new Peer.Host(0);

  private final LaunchSettings settings;
  private final Hub hub;
  private final SortedMap<Integer, RankPlace> places = new TreeMap<>();
  private final Set<Peer> connected = new HashSet<>();
  private final Set<Peer> lost = new HashSet<>();
  private final Set<Peer> ended = new HashSet<>();
  private @Nullable Dial dial;
  private @Nullable FailureNotice failure;
  private Frame.@Nullable NextAttempt next;
  private @Nullable Long decision;
  private int stopRequests;
  private boolean leaving;
  private boolean hasEverJoined;
  private @Nullable String refusal;

  OtherHosts(LaunchSettings settings, Hub hub) {
    this.settings = settings;
    this.hub = hub;
  }

  /**
   * Opens a secure port for the others, or connects to it.
   *
   * @param folder where this launcher and what carries its connections meet
   */
  void open(
      int masterPort,
      JobKey key,
      Map<String, String> environment,
      Console console,
      Relays relays,
      Path folder)
      throws IOException {
    int port = masterPort + 1;
    String master = settings.masterAddress().orElseThrow();
    ServerSocketChannel near = LocalSocket.listen(folder.resolve("hosts"));
    if (isFirst()) {
      hub.listenForHosts(near, key);
      try {
        relays.openFirst(
            ControlAddress.choose(master, port, environment, console),
            near.getLocalAddress(),
            () -> !hub.hasHosts(settings.nodes() - 1));
      } catch (IOException e) {
        throw MasterPort.taken(port, e);
      }
    } else {
      relays.follow(near, master, port, () -> ControlAddress.own(master, port, environment));
      dial =
          new Dial(master, port, key, settings.nodeRank(), CONNECTING_TAKES)
              .through(near.getLocalAddress());
      hub.dial(dial);
    }
  }

  /** Opens the port for the others, or connects to it. */
  void open(int masterPort, JobKey key, Map<String, String> environment, Console console)
      throws IOException {
    int port = masterPort + 1;
    String master = settings.masterAddress().orElseThrow();
    if (isFirst()) {
      hub.listenForHosts(
          listen(ControlAddress.choose(master, port, environment, console)),
          key,
          AcceptLimit.of(() -> !hub.hasHosts(settings.nodes() - 1)));
    } else {
      dial = new Dial(master, port, key, settings.nodeRank(), CONNECTING_TAKES);
      hub.dial(dial);
    }
  }

  private static ServerSocketChannel listen(InetSocketAddress address) throws IOException {
    ServerSocketChannel server = ServerSocketChannel.open();
    try {
      return server.bind(address, AcceptLimit.BACKLOG);
    } catch (IOException e) {
      server.close();
      throw MasterPort.taken(address.getPort(), e);
    }
  }

  boolean isFirst() {
    return settings.nodeRank() == 0;
  }

  void joined(Peer host) {
    connected.add(host);
    lost.remove(host);
    hasEverJoined = true;
  }

  /** Notes that the first host does not take this one; later than at first, it may be a lie. */
  void refused(String reason) {
    if (!hasEverJoined) {
      refusal = reason;
    }
  }

  /** Returns why this host cannot take part in the job. */
  Optional<String> refusal() {
    return Optional.ofNullable(refusal);
  }

  /** Notes the end of a connection; before the host has ended its ranks, it has to come back. */
  void left(Peer host) {
    connected.remove(host);
    if (ended.contains(host)) {
      return;
    }
    lost.add(host);
    if (dial != null) {
      hub.dial(dial.again());
    }
  }

  /** Returns the hosts whose connection was lost and has not come back. */
  Set<Peer> lost() {
    return lost;
  }

  /** Takes a frame of another host; the first host passes failures on to all. */
  void take(Peer.Host from, Frame frame) {
    switch (frame) {
      case Frame.HostState(List<RankPlace> states) ->
          states.forEach(place -> places.put(place.rank(), place));
      case Frame.Notice(FailureNotice notice) -> {
        if (failure == null) {
          failure = notice;
          passOn(from, frame);
        }
      }
      case Frame.StopRequest() -> stopRequests++;
      case Frame.StopDecision(long microStep) -> decision = microStep;
      case Frame.Leave() -> leaving = true;
      case Frame.HostEnded _ -> ended.add(from);
      case Frame.NextAttempt attempt -> next = attempt;
      default -> {
        // Heartbeats and votes are for others to take.
      }
    }
  }

  private void passOn(Peer from, Frame frame) {
    if (isFirst()) {
      connected.stream().filter(host -> !host.equals(from)).forEach(it -> hub.send(it, frame));
    }
  }

  /** Returns the hosts whose ranks must agree on a stop; the first host asks them all. */
  Collection<Peer> voters() {
    return isFirst()
        ? IntStream.range(1, settings.nodes()).<Peer>mapToObj(Peer.Host::new).toList()
        : List.of();
  }

  void sendToFirst(Frame frame) {
    hub.send(FIRST, frame);
  }

  boolean isFirstConnected() {
    return isFirst() || connected.contains(FIRST);
  }

  /** Returns the host of a rank. */
  Peer hostOf(int rank) {
    return new Peer.Host(rank / settings.processes());
  }

  Collection<RankPlace> places() {
    return places.values();
  }

  Optional<FailureNotice> failure() {
    return Optional.ofNullable(failure);
  }

  boolean isStopRequested() {
    return stopRequests > 0;
  }

  /** Returns how often the first host has asked where the ranks are: again after a lost answer. */
  int stopRequests() {
    return stopRequests;
  }

  boolean isLeaving() {
    return leaving;
  }

  Optional<Long> decision() {
    return Optional.ofNullable(decision);
  }

  boolean hasEnded(Peer host) {
    return ended.contains(host);
  }

  boolean haveAllEnded() {
    return lost.isEmpty() && ended.containsAll(connected);
  }

  Optional<Frame.NextAttempt> next() {
    return Optional.ofNullable(next);
  }

  /** Forgets what an attempt has left. */
  void prepare() {
    places.clear();
    ended.clear();
    failure = null;
    next = null;
    decision = null;
    stopRequests = 0;
    leaving = false;
  }
}
