package dev.flotilla.launch.tls;

import java.net.InetAddress;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/** Names those who are turned away at a door: each address once, and a few at most. */
final class Strangers {

  private static final int MOST = 4;

  private final Set<InetAddress> named = new HashSet<>();

  /** Returns what to say of somebody, if anything. */
  synchronized Optional<String> name(InetAddress address, String reason) {
    return named.size() < MOST && named.add(address)
        ? Optional.of(
            "somebody at %s was turned away (%s)".formatted(address.getHostAddress(), reason))
        : Optional.empty();
  }
}
