package dev.flotilla.control;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Collects where everybody is, and decides after which micro-step all stop. */
public final class StopVote {

  private final Set<Peer> missing;
  private final Map<Peer, Frame.Position> positions = new HashMap<>();

  /** Starts a vote of all these. */
  public StopVote(Collection<Peer> voters) {
    this.missing = new HashSet<>(voters);
  }

  /** Notes where one of them is. */
  public void take(Peer voter, Frame.Position position) {
    missing.remove(voter);
    positions.put(voter, position);
  }

  /** Waits no longer for one that has ended. */
  public void forget(Peer voter) {
    missing.remove(voter);
  }

  /** Returns who has not answered. */
  public Set<Peer> missing() {
    return Set.copyOf(missing);
  }

  /** Tells whether everybody can stop after a micro-step. */
  public boolean isPossible() {
    return positions.values().stream().allMatch(Frame.Position::stops);
  }

  /** Returns the furthest micro-step, or {@link RankPlace#NONE} if none was begun. */
  public long furthest() {
    return positions.values().stream()
        .mapToLong(Frame.Position::microStep)
        .max()
        .orElse(RankPlace.NONE);
  }

  /** Returns the micro-step after which all stop; none has passed it. */
  public long decision() {
    long furthest = furthest();
    return furthest == RankPlace.NONE ? RankPlace.NONE : furthest + 1;
  }
}
