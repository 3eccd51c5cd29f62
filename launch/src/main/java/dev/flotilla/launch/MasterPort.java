package dev.flotilla.launch;

import dev.flotilla.world.ExitCodes;
import dev.flotilla.world.RankEnvironment;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

/**
 * Chooses the port that programs find as {@code MASTER_PORT}.
 *
 * <p>On one host it is free when chosen, but nothing keeps it so until a program takes it.
 * Flotilla's own ranks are not concerned: on one host they meet through a file.
 */
final class MasterPort {

  private MasterPort() {}

  /**
   * Returns the port of these settings, or a free one.
   *
   * @throws LaunchException if this host must serve a port that is taken
   */
  static int choose(LaunchSettings settings) {
    if (settings.isOneHost() && settings.masterPort().isEmpty()) {
      return freePort();
    }
    int port = settings.masterPort().orElse(RankEnvironment.DEFAULT_MASTER_PORT);
    if (settings.nodeRank() == 0) {
      requireFree(
          settings.isOneHost() ? List.of(port) : List.of(port, port + 1), settings.isOneHost());
    }
    return port;
  }

  private static int freePort() {
    try (var socket = bind(0, true)) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new LaunchException("this host has no free port: " + e.getMessage());
    }
  }

  private static void requireFree(List<Integer> ports, boolean loopback) {
    var problems = new ArrayList<String>();
    for (int port : ports) {
      try (var socket = bind(port, loopback)) {
        socket.getLocalPort();
      } catch (IOException e) {
        problems.add(
            port == ports.getFirst()
                ? "port %d of this host cannot be used (%s); choose another with --master-port"
                    .formatted(port, e.getMessage())
                : taken(port, e).getMessage());
      }
    }
    if (!problems.isEmpty()) {
      throw new LaunchException(problems, ExitCodes.RENDEZVOUS_FAILED);
    }
  }

  /** Returns what to say where the port of the launchers cannot be used. */
  static LaunchException taken(int port, IOException why) {
    String problem =
        "port %d of this host, at which the launchers of several hosts talk, cannot be used (%s);"
                .formatted(port, why.getMessage())
            + " it is --master-port + 1: choose another --master-port";
    return new LaunchException(List.of(problem), ExitCodes.RENDEZVOUS_FAILED);
  }

  private static ServerSocket bind(int port, boolean loopback) throws IOException {
    var socket = new ServerSocket();
    try {
      socket.bind(
          loopback
              ? new InetSocketAddress(InetAddress.getLoopbackAddress(), port)
              : new InetSocketAddress(port));
      return socket;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }
}
