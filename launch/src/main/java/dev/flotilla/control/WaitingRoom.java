package dev.flotilla.control;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.SequencedSet;

/**
 * The connections that have not proved yet who they are.
 *
 * <p>There are never more than {@value #MOST}, of which one address holds a quarter at most. A
 * newcomer takes the place of one that has sent nothing yet, the oldest; where all have begun to
 * greet, the newcomer has to come again. So a flood pushes nobody out who has begun.
 */
final class WaitingRoom {

  static final int MOST = 128;
  static final int MOST_OF_ONE_ADDRESS = 32;

  private final SequencedSet<Connection> waiting = new LinkedHashSet<>();

  /** Tells whether a newcomer finds room; {@code evicted} then takes who has to go for it. */
  boolean add(Connection newcomer, List<Connection> evicted) {
    List<Connection> neighbours = waiting.stream().filter(newcomer::isNeighbourOf).toList();
    boolean isFull = waiting.size() >= MOST;
    if (neighbours.size() >= MOST_OF_ONE_ADDRESS || isFull) {
      Optional<Connection> silent = firstSilent(neighbours);
      if (silent.isEmpty() && isFull && neighbours.size() < MOST_OF_ONE_ADDRESS) {
        silent = firstSilent(waiting);
      }
      if (silent.isEmpty()) {
        return false;
      }
      waiting.remove(silent.get());
      evicted.add(silent.get());
    }
    waiting.add(newcomer);
    return true;
  }

  private static Optional<Connection> firstSilent(Iterable<Connection> candidates) {
    for (Connection candidate : candidates) {
      if (!candidate.hasBegun()) {
        return Optional.of(candidate);
      }
    }
    return Optional.empty();
  }

  void remove(Connection connection) {
    waiting.remove(connection);
  }

  /** Returns those that have taken too long. */
  List<Connection> late() {
    return new ArrayList<>(waiting.stream().filter(Connection::isLate).toList());
  }
}
