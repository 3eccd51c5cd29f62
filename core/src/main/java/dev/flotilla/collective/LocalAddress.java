package dev.flotilla.collective;

import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Comparator;
import java.util.Set;
import java.util.stream.Collectors;

/** Chooses the address of this host on which its collectives listen. */
final class LocalAddress {

  private LocalAddress() {}

  /** Returns the address from which this host reaches the master. */
  static InetAddress towards(MasterAddress master) {
    try (var socket = new DatagramSocket()) {
      // Connecting a datagram socket sends nothing; it asks the routing table.
      socket.connect(new InetSocketAddress(master.address(), master.port()));
      return socket.getLocalAddress();
    } catch (SocketException e) {
      throw new RendezvousException("this host has no route to the master at " + master, e);
    }
  }

  /** Returns the address of a network interface, preferably a short one. */
  static InetAddress ofInterface(String name) {
    try {
      var network = NetworkInterface.getByName(name);
      if (network == null) {
        throw new RendezvousException(
            "GLOO_SOCKET_IFNAME names the network interface '%s', which this host lacks; it has %s"
                .formatted(name, interfaces()));
      }
      return network
          .inetAddresses()
          .min(Comparator.comparing(address -> !(address instanceof Inet4Address)))
          .orElseThrow(
              () -> new RendezvousException("interface %s has no address".formatted(name)));
    } catch (SocketException e) {
      throw new RendezvousException("cannot read the network interfaces of this host", e);
    }
  }

  /** Returns all addresses of this host, without the names of their interfaces. */
  static Set<String> all() {
    try {
      return NetworkInterface.networkInterfaces()
          .flatMap(NetworkInterface::inetAddresses)
          .map(address -> address.getHostAddress().replaceFirst("%.*", ""))
          .collect(Collectors.toSet());
    } catch (SocketException e) {
      throw new RendezvousException("cannot read the network interfaces of this host", e);
    }
  }

  private static String interfaces() throws SocketException {
    return NetworkInterface.networkInterfaces()
        .map(NetworkInterface::getName)
        .sorted()
        .collect(Collectors.joining(", "));
  }
}
