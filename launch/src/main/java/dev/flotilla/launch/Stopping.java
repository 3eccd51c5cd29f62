package dev.flotilla.launch;

import dev.flotilla.control.Frame;
import dev.flotilla.control.Peer;
import dev.flotilla.control.RankPlace;
import dev.flotilla.control.StopVote;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Lets all ranks of the job stop after one and the same micro-step.
 *
 * <p>Whoever is asked first tells the first host's launcher, which asks all ranks where they are,
 * and decides. Where a rank cannot stop so, or one does not answer, all are ended by signal.
 */
final class Stopping {

  private static final Duration VOTE_TAKES = Duration.ofSeconds(5);

  /** What becomes of the launch. */
  enum Verdict {
    /** Nothing has to be done. */
    GO_ON,
    /** The ranks must be ended by signal. */
    END_BY_SIGNAL
  }

  private final ControlRoom room;
  private final RankGroup group;
  private final Interruption interruption;
  private final Console console;
  private final Duration grace;
  private @Nullable String signal;
  private @Nullable StopVote vote;
  private boolean isDecided;
  private int answered;
  private long start;

  Stopping(
      ControlRoom room,
      RankGroup group,
      Interruption interruption,
      Console console,
      Duration grace) {
    this.room = room;
    this.group = group;
    this.interruption = interruption;
    this.console = console;
    this.grace = grace;
  }

  /** Tells whether ranks were told after which micro-step to stop. */
  boolean isDecided() {
    return isDecided;
  }

  /** Returns the signal that all this is because of. */
  String signal() {
    return signal == null ? "SIGTERM" : signal;
  }

  Verdict look() {
    if (signal == null) {
      Optional<String> asked = asked();
      if (asked.isEmpty()) {
        return Verdict.GO_ON;
      }
      begin(asked.get());
    }
    if (room.others().isLeaving()) {
      return endBySignal("the first host's launcher says so");
    }
    if (isDecided) {
      return isOver(grace) ? endBySignal("they did not stop in time") : Verdict.GO_ON;
    }
    return room.others().isFirst() ? decide() : follow();
  }

  private Optional<String> asked() {
    return interruption
        .stopSignal()
        .or(room::stopSignal)
        .or(
            () ->
                room.others().isStopRequested() || room.others().isLeaving()
                    ? Optional.of("SIGTERM")
                    : Optional.empty());
  }

  private void begin(String asked) {
    signal = asked;
    start = System.nanoTime();
    console.say("asked to stop (%s); the ranks agree on where".formatted(asked));
    if (room.others().isFirst()) {
      vote = room.startVote(voters());
    }
  }

  private List<Peer> voters() {
    var voters = new ArrayList<Peer>(room.others().voters());
    group.living().forEach(rank -> voters.add(new Peer.Rank(rank.rank())));
    return voters;
  }

  private boolean isOver(Duration time) {
    return System.nanoTime() - start > time.toNanos();
  }

  private Verdict decide() {
    StopVote current = vote == null ? room.startVote(voters()) : vote;
    vote = current;
    forgetTheDead(current);
    if (!current.isPossible()) {
      return endBySignal("not all of them can stop after a micro-step");
    }
    if (current.missing().isEmpty()) {
      tell(current.decision());
      return Verdict.GO_ON;
    }
    return isOver(VOTE_TAKES) ? endBySignal("not all of them answer") : Verdict.GO_ON;
  }

  private void forgetTheDead(StopVote current) {
    for (Peer voter : current.missing()) {
      boolean isDead =
          voter instanceof Peer.Rank(int rank)
              ? group.living().stream().noneMatch(it -> it.rank() == rank)
              : room.others().hasEnded(voter);
      if (isDead) {
        current.forget(voter);
      }
    }
  }

  /** Another than the first host answers for its ranks, and passes the decision on. */
  private Verdict follow() {
    Optional<Long> decision = room.others().decision();
    if (decision.isPresent()) {
      tell(decision.get());
      return Verdict.GO_ON;
    }
    if (room.others().isStopRequested()) {
      answer();
    } else {
      room.others().sendToFirst(new Frame.StopAsked(signal()));
    }
    boolean isLost = !room.canReachFirst() || isOver(VOTE_TAKES.multipliedBy(2));
    return isLost ? endBySignal("the first host's launcher does not answer") : Verdict.GO_ON;
  }

  private void answer() {
    if (vote == null) {
      vote = room.startVote(voters());
    }
    forgetTheDead(vote);
    if (vote.missing().isEmpty() && answered < room.others().stopRequests()) {
      answered = room.others().stopRequests();
      room.others().sendToFirst(new Frame.Position(vote.furthest(), vote.isPossible()));
    }
  }

  private void tell(long microStep) {
    isDecided = true;
    room.decide(microStep);
    console.say(
        microStep == RankPlace.NONE
            ? "no rank has begun a micro-step or goes on training; they end after the next, if any"
            : "all ranks stop after micro-step %d and save".formatted(microStep));
  }

  private Verdict endBySignal(String why) {
    console.say("the ranks are ended by signal: " + why);
    if (room.others().isFirst()) {
      room.sendToHosts(new Frame.Leave());
    }
    return Verdict.END_BY_SIGNAL;
  }
}
