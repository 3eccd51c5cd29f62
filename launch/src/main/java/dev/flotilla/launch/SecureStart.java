package dev.flotilla.launch;

import dev.flotilla.control.Hub;
import dev.flotilla.control.JobKey;
import dev.flotilla.launch.tls.Aliases;
import dev.flotilla.launch.tls.Relays;
import dev.flotilla.launch.tls.SecureChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Optional;

/** What {@code --secure} needs on this host before anything starts. */
final class SecureStart {

  private SecureStart() {}

  /**
   * Returns the loopback address that stands for this host; empty where nothing is carried.
   *
   * @throws LaunchException if this host does not have it
   */
  static Optional<InetAddress> alias(LaunchSettings settings, Optional<JobKey> key) {
    Optional<InetAddress> alias =
        key.filter(_ -> settings.isSecure()).map(it -> Aliases.of(it).of(settings.nodeRank()));
    alias.ifPresent(SecureStart::requireUsable);
    return alias;
  }

  private static void requireUsable(InetAddress alias) {
    try (var socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(alias, 0));
    } catch (IOException e) {
      throw new LaunchException(
          "--secure: this host cannot listen on %s (%s), as Linux does on all of 127.0.0.0/8"
              .formatted(alias.getHostAddress(), e.getMessage()));
    }
  }

  /**
   * Returns what carries connections between the hosts.
   *
   * @throws LaunchException if there is no certificate, or no TLS 1.3
   */
  static Relays relays(LaunchSettings settings, JobKey key, Hub hub) {
    try {
      return new Relays(channel(settings, key), hub, Aliases.of(key).of(settings.nodeRank()));
    } catch (IOException e) {
      throw new LaunchException("--secure: " + FileTrouble.in(e));
    }
  }

  private static SecureChannel channel(LaunchSettings settings, JobKey key) throws IOException {
    Optional<TlsFiles> files = settings.policy().secure().orElseThrow().files();
    return files.isPresent()
        ? SecureChannel.ofFiles(
            key, files.get().certificate(), files.get().key(), files.get().authority())
        : SecureChannel.ofJob(key);
  }
}
