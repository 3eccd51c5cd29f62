package dev.flotilla.launch;

import dev.flotilla.control.Peer;
import dev.flotilla.control.RankPlace;
import dev.flotilla.control.SilenceWatch;
import dev.flotilla.control.TraceReader;
import dev.flotilla.control.Whereabouts;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Notices ranks that have fallen silent, and ranks for which others wait in vain.
 *
 * <p>A silent rank is named after five seconds and hung after the hang timeout. A rank whose
 * process lives but which does not come to the collective that others wait in is named after ten;
 * how long they wait for it is for the collectives' own timeout to say, as it may be busy.
 */
final class HangWatch {

  private static final Duration SUSPICIOUS = Duration.ofSeconds(5);
  private static final Duration STALLED = Duration.ofSeconds(10);
  private static final Duration DUMP_TAKES = Duration.ofSeconds(1);

  private final ControlRoom room;
  private final RankGroup group;
  private final Console console;
  private final Path logDir;
  private final Duration hangTimeout;
  private final Set<Peer> suspects = new HashSet<>();
  private final SilenceWatch progress = new SilenceWatch(System::nanoTime);
  private final Map<Integer, Long> pulses = new HashMap<>();
  private Optional<Integer> staller = Optional.empty();

  HangWatch(ControlRoom room, RankGroup group, Console console, Path logDir, Duration hangTimeout) {
    this.room = room;
    this.group = group;
    this.console = console;
    this.logDir = logDir;
    this.hangTimeout = hangTimeout;
  }

  /** Looks at all ranks and hosts; returns one that hangs. */
  Optional<Hang> look() throws InterruptedException {
    Optional<Hang> gone = gone();
    if (gone.isPresent()) {
      return gone;
    }
    if (hangTimeout.isZero()) {
      return Optional.empty();
    }
    watchThoseThatAreNotThereYet();
    forgiveThoseThatAreBack();
    for (Peer peer : room.silence().silentFor(SUSPICIOUS)) {
      if (isWatched(peer) && suspects.add(peer)) {
        console.say(suspicion(peer));
        dump();
      }
    }
    lookForStalls();
    return room.silence().silentFor(hangTimeout).stream()
        .filter(this::isWatched)
        .findFirst()
        .map(this::hang);
  }

  /** Returns another host whose launcher has died, or cannot be reached any more. */
  Optional<Hang> gone() {
    return room.gone()
        .map(
            host ->
                new Hang(
                    host,
                    room.silence().of(host),
                    true,
                    "its launcher has died, or the link to it is cut: the connection ended %d s ago"
                            .formatted(silence(host))
                        + " and was not made again\n"
                        + whereabouts()));
  }

  /** A JVM may take long to start, so one that has not been heard of is silent only if stopped. */
  private void watchThoseThatAreNotThereYet() {
    for (RankProcess rank : group.living()) {
      Peer peer = new Peer.Rank(rank.rank());
      if (!room.hasJoined(peer) && !rank.isStopped()) {
        room.silence().heard(peer);
      }
    }
  }

  private boolean isWatched(Peer peer) {
    return !(peer instanceof Peer.Rank(int rank)) || process(rank).isPresent();
  }

  private Optional<RankProcess> process(int rank) {
    return group.living().stream().filter(it -> it.rank() == rank).findFirst();
  }

  private void forgiveThoseThatAreBack() {
    for (Peer peer : Set.copyOf(suspects)) {
      if (room.silence().of(peer).compareTo(SUSPICIOUS) < 0) {
        suspects.remove(peer);
        if (isWatched(peer)) {
          console.say(name(peer) + " is back");
        }
      }
    }
  }

  private String suspicion(Peer peer) {
    return "%s is silent for %d s%s".formatted(name(peer), silence(peer), whereAndWhy(peer));
  }

  private long silence(Peer peer) {
    return room.silence().of(peer).toSeconds();
  }

  private String name(Peer peer) {
    return switch (peer) {
      case Peer.Rank(int rank) ->
          process(rank).map(RankProcess::label).orElse("rank " + rank) + " on " + HostName.local();
      case Peer.Host(int node) -> "the launcher of host " + node;
    };
  }

  private String whereAndWhy(Peer peer) {
    if (!(peer instanceof Peer.Rank(int rank))) {
      return ": its host or the link to it is down, or it is stopped";
    }
    RankPlace place = room.place(rank);
    String where =
        place.waits()
            ? ", in %s #%d of update %d"
                .formatted(place.operation(), place.sequence(), place.updates())
            : ", " + place.when();
    return process(rank)
        .filter(RankProcess::isStopped)
        .map(it -> "%s; it is stopped (SIGSTOP; kill -CONT %d)".formatted(where, it.pid()))
        .orElse(where);
  }

  private Hang hang(Peer peer) {
    return new Hang(
        peer,
        room.silence().of(peer),
        false,
        "silent for %d s%s\n%s".formatted(silence(peer), whereAndWhy(peer), whereabouts()));
  }

  /** Returns who is where, and who is missing. */
  String whereabouts() {
    List<Whereabouts.Seen> seen = room.places().stream().map(this::seen).toList();
    String parting =
        Whereabouts.difference(room.traces().collectives())
            .map(difference -> "; " + difference)
            .orElse("");
    return Whereabouts.sentence(seen) + parting;
  }

  private Whereabouts.Seen seen(RankPlace place) {
    boolean isOwn = room.traces().contain(place.rank());
    boolean isGone = isOwn && process(place.rank()).isEmpty();
    Peer voice = isOwn ? new Peer.Rank(place.rank()) : room.others().hostOf(place.rank());
    Duration silent = room.silence().of(voice);
    boolean isSilent = silent.compareTo(SUSPICIOUS) >= 0 || room.others().lost().contains(voice);
    return new Whereabouts.Seen(place, isGone, isSilent ? silent : Duration.ZERO);
  }

  private void dump() throws InterruptedException {
    room.traces().dumpCollectives(logDir);
    room.dumpThreads(logDir, DUMP_TAKES);
  }

  /** Returns the rank for which others wait in vain, if one was named. */
  Optional<Integer> staller() {
    return staller;
  }

  private void lookForStalls() throws InterruptedException {
    room.traces().forEach(this::notePulse);
    progress.tick();
    if (staller.isPresent() || progress.silentFor(STALLED).size() < room.traces().size()) {
      return;
    }
    List<RankPlace> places = room.places();
    staller = stallerAmong(places);
    if (staller.isPresent()) {
      console.say(
          "%s makes no progress while others wait for it: %s"
              .formatted(name(new Peer.Rank(staller.get())), whereabouts()));
      dump();
    }
  }

  private void notePulse(int rank, TraceReader trace) {
    long pulse = trace.pulse();
    if (!Long.valueOf(pulse).equals(pulses.put(rank, pulse))) {
      progress.heard(new Peer.Rank(rank));
      staller = staller.filter(it -> it != rank);
    }
  }

  /** A rank that says what it does is busy; one in the same collective as the others is slow. */
  static Optional<Integer> stallerAmong(List<RankPlace> places) {
    long furthest =
        places.stream().filter(RankPlace::waits).mapToLong(RankPlace::sequence).max().orElse(0);
    boolean isAnybodyBusy =
        places.stream().anyMatch(place -> !place.waits() && !place.activity().isEmpty());
    return isAnybodyBusy || furthest == 0
        ? Optional.empty()
        : places.stream()
            .filter(place -> !place.waits() || place.sequence() < furthest)
            .map(RankPlace::rank)
            .findFirst();
  }
}
