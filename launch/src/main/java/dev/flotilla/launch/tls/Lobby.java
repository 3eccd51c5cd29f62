package dev.flotilla.launch.tls;

import java.io.Closeable;
import java.net.InetAddress;
import java.net.Socket;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Who has come to a door and has not been let in.
 *
 * <p>There are never more than {@value #MOST}, of which one address holds a quarter at most. A
 * newcomer takes the place of one that has sent nothing yet, the oldest; where all have begun to
 * greet, the newcomer has to come again. So a flood pushes nobody out who has begun.
 */
final class Lobby implements Closeable {

  static final int MOST = 128;
  static final int MOST_OF_ONE_ADDRESS = 32;

  private final Map<Socket, Boolean> guests = new LinkedHashMap<>();

  /** Tells whether a newcomer finds room. */
  synchronized boolean enter(Socket newcomer) {
    InetAddress address = newcomer.getInetAddress();
    Predicate<Socket> isNeighbour = it -> address.equals(it.getInetAddress());
    boolean isCrowd = guests.keySet().stream().filter(isNeighbour).count() >= MOST_OF_ONE_ADDRESS;
    if (isCrowd || guests.size() >= MOST) {
      Optional<Socket> silent = silent(isNeighbour);
      if (silent.isEmpty() && !isCrowd) {
        silent = silent(_ -> true);
      }
      if (silent.isEmpty()) {
        return false;
      }
      guests.remove(silent.get());
      Closing.quietly(silent.get());
    }
    guests.put(newcomer, false);
    return true;
  }

  private Optional<Socket> silent(Predicate<Socket> who) {
    return guests.entrySet().stream()
        .filter(it -> !it.getValue())
        .map(Map.Entry::getKey)
        .filter(who)
        .findFirst();
  }

  synchronized void hasBegun(Socket guest) {
    guests.replace(guest, true);
  }

  synchronized void leave(Socket guest) {
    guests.remove(guest);
  }

  /** Sends everybody away. */
  @Override
  public synchronized void close() {
    List.copyOf(guests.keySet()).forEach(Closing::quietly);
  }
}
