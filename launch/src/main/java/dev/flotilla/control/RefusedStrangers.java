package dev.flotilla.control;

import java.net.InetAddress;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/** Names those who do not prove that they know the key: each address once, and a few at most. */
final class RefusedStrangers {

  private static final int MOST = 4;

  private final Set<InetAddress> named = new HashSet<>();

  /** Returns what to say of a connection that was ended for what came over it, if anything. */
  Optional<String> name(Connection connection, FrameException why) {
    if (connection.other().isPresent() || named.size() >= MOST) {
      return Optional.empty();
    }
    return connection
        .from()
        .filter(named::add)
        .map(
            address ->
                "somebody at %s who has not proved to know the job's key was turned away (%s)"
                    .formatted(address.getHostAddress(), why.getMessage()));
  }
}
