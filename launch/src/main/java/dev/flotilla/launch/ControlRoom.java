package dev.flotilla.launch;

import dev.flotilla.control.ControlFolder;
import dev.flotilla.control.FailureNotice;
import dev.flotilla.control.Frame;
import dev.flotilla.control.Hub;
import dev.flotilla.control.HubEvent;
import dev.flotilla.control.JobKey;
import dev.flotilla.control.Peer;
import dev.flotilla.control.RankPlace;
import dev.flotilla.control.SilenceWatch;
import dev.flotilla.control.StopVote;
import dev.flotilla.launch.tls.Relays;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A launcher's side of the control channel: what ranks and other launchers have said, and what they
 * are told. For the launching thread alone.
 */
final class ControlRoom implements AutoCloseable {

  private static final Duration BEAT = Duration.ofSeconds(1);
  private static final Duration POLL = Duration.ofMillis(10);

  /** A launcher that lives dials again several times a second. */
  private static final Duration COMING_BACK_TAKES = Duration.ofSeconds(4);

  private final Hub hub;
  private final ControlFolder folder;
  private final Console console;
  private final OtherHosts others;
  private final Optional<Relays> relays;
  private final SilenceWatch silence = new SilenceWatch(System::nanoTime);
  private final RankTraces traces;
  private final Set<Peer> joined = new HashSet<>();
  private final Set<Peer> everJoined = new HashSet<>();
  private final Set<Peer> noted = new HashSet<>();
  private final Set<Peer> dumped = new HashSet<>();
  private long lastBeat = System.nanoTime();
  private @Nullable String stopSignal;
  private @Nullable StopVote vote;
  private Frame.@Nullable StopDecision decision;
  private @Nullable FailureNotice notice;

  private ControlRoom(
      Hub hub, ControlFolder folder, Console console, OtherHosts others, Optional<Relays> relays) {
    this.hub = hub;
    this.folder = folder;
    this.console = console;
    this.others = others;
    this.relays = relays;
    this.traces = new RankTraces(console);
  }

  /**
   * Opens the channel of a launch.
   *
   * @param shared key of the launchers of several hosts
   */
  static ControlRoom open(
      LaunchSettings settings,
      MeetingFolder meeting,
      int masterPort,
      Optional<JobKey> shared,
      Map<String, String> environment,
      Console console)
      throws IOException {
    var folder = new ControlFolder(meeting.path());
    Hub hub = Hub.open();
    Optional<Relays> relays = Optional.empty();
    try {
      hub.listenForRanks(folder.listen(), folder.key());
      var others = new OtherHosts(settings, hub);
      if (shared.isPresent() && settings.isSecure()) {
        relays = Optional.of(SecureStart.relays(settings, shared.get(), hub));
        others.open(masterPort, shared.get(), environment, console, relays.get(), meeting.path());
      } else if (shared.isPresent()) {
        others.open(masterPort, shared.get(), environment, console);
      }
      folder.handOver(shared.orElse(folder.key()).derived("pairs of ranks"));
      return new ControlRoom(hub, folder, console, others, relays);
    } catch (IOException | LaunchException e) {
      hub.close();
      relays.ifPresent(Relays::close);
      throw e;
    }
  }

  OtherHosts others() {
    return others;
  }

  SilenceWatch silence() {
    return silence;
  }

  /** Returns what the ranks of this host note of themselves. */
  RankTraces traces() {
    return traces;
  }

  /** Tells whether somebody has ever connected in this attempt. */
  boolean hasJoined(Peer peer) {
    return everJoined.contains(peer);
  }

  /** Makes everything ready for an attempt, and forgets the one before. */
  void prepare(int attempt, List<Integer> ranks) throws IOException {
    joined.stream().filter(Peer.Rank.class::isInstance).toList().forEach(this::forget);
    others.prepare();
    everJoined.clear();
    noted.clear();
    dumped.clear();
    stopSignal = null;
    vote = null;
    decision = null;
    notice = null;
    hub.expect(attempt);
    relays.ifPresent(it -> it.begin(attempt));
    for (int rank : ranks) {
      traces.watch(rank, folder.newTrace(rank));
    }
  }

  private void forget(Peer peer) {
    joined.remove(peer);
    silence.forget(peer);
  }

  /** Takes in what has come, and lets time pass. */
  void look() throws InterruptedException {
    for (Optional<HubEvent> event = hub.poll(Duration.ZERO);
        event.isPresent();
        event = hub.poll(Duration.ZERO)) {
      take(event.get());
    }
    silence.tick();
    if (System.nanoTime() - lastBeat >= BEAT.toNanos()) {
      lastBeat = System.nanoTime();
      hub.sendToHosts(new Frame.HostState(traces.places()));
    }
  }

  private void take(HubEvent event) {
    switch (event) {
      case HubEvent.Joined(Peer peer) -> join(peer);
      case HubEvent.Left(Peer peer) -> leave(peer);
      case HubEvent.Came(Peer peer, Frame frame) -> {
        silence.heard(peer);
        take(peer, frame);
      }
      case HubEvent.Refused(String reason) -> others.refused(reason);
      case HubEvent.Warning(String message) -> console.say("warning: " + message);
    }
  }

  private void join(Peer peer) {
    silence.heard(peer);
    joined.add(peer);
    everJoined.add(peer);
    if (peer instanceof Peer.Host(int node)) {
      if (others.lost().contains(peer)) {
        console.say("the launcher of host %d is connected again".formatted(node));
      }
      others.joined(peer);
    }
    if (vote != null && (peer instanceof Peer.Rank || others.isFirst())) {
      hub.send(peer, new Frame.StopRequest());
    }
    if (decision != null && (peer instanceof Peer.Rank || others.isFirst())) {
      hub.send(peer, decision);
    }
    if (notice != null) {
      hub.send(peer, new Frame.Notice(notice));
    }
  }

  private void leave(Peer peer) {
    forget(peer);
    if (peer instanceof Peer.Host(int node)) {
      others.left(peer);
      if (others.lost().contains(peer)) {
        // The time until it is back counts as silence.
        silence.heard(peer);
        console.say("the connection to the launcher of host %d is lost".formatted(node));
      }
    }
  }

  /** Returns a host whose connection was lost and has not come back in time. */
  Optional<Peer> gone() {
    return others.lost().stream().filter(this::isGone).findFirst();
  }

  private boolean isGone(Peer host) {
    return silence.of(host).compareTo(COMING_BACK_TAKES) >= 0;
  }

  /** Waits for a lost host to come back or to be gone. */
  void awaitLost() throws InterruptedException {
    boolean _ =
        await(() -> others.lost().stream().allMatch(this::isGone), COMING_BACK_TAKES.plus(BEAT));
  }

  /** Tells whether the first host's launcher is connected, or may soon be so again. */
  boolean canReachFirst() {
    return others.isFirstConnected() || others.lost().stream().anyMatch(host -> !isGone(host));
  }

  private void take(Peer peer, Frame frame) {
    switch (frame) {
      case Frame.StopAsked(String signal) -> stopSignal = stopSignal == null ? signal : stopSignal;
      case Frame.Position position when vote != null -> vote.take(peer, position);
      case Frame.Noted() -> noted.add(peer);
      case Frame.Dumped() -> dumped.add(peer);
      default -> {
        if (peer instanceof Peer.Host host) {
          others.take(host, frame);
        }
      }
    }
  }

  /** Returns the signal by which a rank or another host was asked to stop. */
  Optional<String> stopSignal() {
    return Optional.ofNullable(stopSignal);
  }

  /** Asks everybody where they are. */
  StopVote startVote(List<Peer> voters) {
    vote = new StopVote(voters);
    voters.forEach(voter -> hub.send(voter, new Frame.StopRequest()));
    return vote;
  }

  /** Tells everybody for whom this launcher decides where to stop, also who connects later. */
  void decide(long microStep) {
    decision = new Frame.StopDecision(microStep);
    hub.sendToRanks(decision);
    if (others.isFirst()) {
      hub.sendToHosts(decision);
    }
  }

  void sendToRanks(Frame frame) {
    hub.sendToRanks(frame);
  }

  void sendToHosts(Frame frame) {
    hub.sendToHosts(frame);
  }

  /** Tells all ranks of a failure, also those that connect later. */
  void announce(FailureNotice failure) {
    notice = failure;
    hub.sendToRanks(new Frame.Notice(failure));
  }

  /** Tells whether a rank has the notice in its log. */
  boolean hasNoted(int rank) {
    return noted.contains(new Peer.Rank(rank));
  }

  /** Asks the ranks for the stacks of their threads, and waits for those that answer. */
  void dumpThreads(Path logDir, Duration longest) throws InterruptedException {
    dumped.clear();
    hub.sendToRanks(new Frame.Dump(logDir.toAbsolutePath().toString()));
    await(() -> dumped.containsAll(livelyRanks()), longest);
  }

  /** Waits for something that is to come over the channel; tells whether it has. */
  boolean await(BooleanSupplier condition, Duration longest) throws InterruptedException {
    long deadline = System.nanoTime() + longest.toNanos();
    look();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        return false;
      }
      Thread.sleep(POLL);
      look();
    }
    return true;
  }

  private List<Peer> joinedRanks() {
    return joined.stream().filter(Peer.Rank.class::isInstance).toList();
  }

  private List<Peer> livelyRanks() {
    return joinedRanks().stream()
        .filter(rank -> silence.of(rank).compareTo(BEAT.multipliedBy(2)) < 0)
        .toList();
  }

  RankPlace place(int rank) {
    return places().stream()
        .filter(place -> place.rank() == rank)
        .findFirst()
        .orElse(RankPlace.unknown(rank));
  }

  /** Returns where all ranks are, those of this host first-hand. */
  List<RankPlace> places() {
    var places = new ArrayList<>(traces.places());
    places.addAll(others.places());
    return places;
  }

  /** Returns the most updates that a rank has made. */
  long updates() {
    return places().stream().mapToLong(RankPlace::updates).max().orElse(0);
  }

  @Override
  public void close() {
    hub.close();
    relays.ifPresent(Relays::close);
  }
}
