package dev.flotilla.launch;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;

/** Chooses where the first host's launcher listens for those of the other hosts. */
final class ControlAddress {

  private ControlAddress() {}

  /**
   * Returns the master's address, so that no other interface is listened on.
   *
   * <p>Many hosts know their own name as a loopback address, and a name may stand for an address
   * that is translated on the way. Then it is the address of the interface that {@code
   * GLOO_SOCKET_IFNAME} names, or else every address, which is said.
   */
  static InetSocketAddress choose(
      String master, int port, Map<String, String> environment, Console console) {
    Optional<InetAddress> known = resolved(master).filter(it -> isUsable(master, it));
    if (known.isEmpty()) {
      String network = environment.getOrDefault("GLOO_SOCKET_IFNAME", "").split(",", 2)[0].strip();
      known = network.isEmpty() ? Optional.empty() : ofInterface(network);
    }
    if (known.isEmpty()) {
      console.say(
          "warning: port %d listens on every interface, as '%s' is no address of this host that"
                  .formatted(port, master)
              + " others can reach; name one with --master-addr, or its interface with"
              + " GLOO_SOCKET_IFNAME");
    }
    return known
        .map(address -> new InetSocketAddress(address, port))
        .orElseGet(() -> new InetSocketAddress(port));
  }

  /**
   * Returns the address of this host that the other hosts reach: that of the interface which {@code
   * GLOO_SOCKET_IFNAME} names, or else the one from which it reaches the master.
   */
  static InetAddress own(String master, int port, Map<String, String> environment)
      throws IOException {
    String network = environment.getOrDefault("GLOO_SOCKET_IFNAME", "").split(",", 2)[0].strip();
    if (!network.isEmpty()) {
      return ofInterface(network)
          .orElseThrow(
              () -> new IOException("GLOO_SOCKET_IFNAME: there is no interface " + network));
    }
    try (var socket = new DatagramSocket()) {
      // Connecting a datagram socket sends nothing; it asks the routing table.
      socket.connect(new InetSocketAddress(InetAddress.getByName(master), port));
      return socket.getLocalAddress();
    }
  }

  private static Optional<InetAddress> resolved(String master) {
    try {
      return Optional.of(InetAddress.getByName(master));
    } catch (UnknownHostException e) {
      return Optional.empty();
    }
  }

  private static boolean isUsable(String master, InetAddress address) {
    boolean saysLoopback = master.equals("localhost") || master.matches("[0-9.]+|.*:.*");
    try {
      return address.isLoopbackAddress()
          ? saysLoopback
          : NetworkInterface.getByInetAddress(address) != null;
    } catch (SocketException e) {
      return false;
    }
  }

  private static Optional<InetAddress> ofInterface(String name) {
    try {
      return Optional.ofNullable(NetworkInterface.getByName(name))
          .flatMap(it -> it.inetAddresses().min(Comparator.comparing(InetAddress::getHostAddress)));
    } catch (SocketException e) {
      return Optional.empty();
    }
  }
}
