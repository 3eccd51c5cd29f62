package dev.flotilla.board.live;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

/**
 * Where a board listens, and under which names browsers may ask for it.
 *
 * @param host as the user has written it
 * @param address what it stands for
 */
record BoardAddress(String host, InetAddress address) {

  private static final Set<String> LOOPBACK = Set.of("127.0.0.1", "localhost", "[::1]");

  static BoardAddress of(String host) throws UnknownHostException {
    return new BoardAddress(host, InetAddress.getByName(host));
  }

  boolean isLoopback() {
    return address.isLoopbackAddress();
  }

  /** What the link names: an address that listens everywhere is none to connect to. */
  String linkName() {
    return address.isAnyLocalAddress() ? thisHost() : bracketed(host);
  }

  /** Under an address that stands for all of the host's, each of these is one of its names. */
  Set<String> names() throws SocketException {
    Set<String> names = new HashSet<>(LOOPBACK);
    names.add(bracketed(host).toLowerCase(Locale.ROOT));
    if (address.isAnyLocalAddress()) {
      names.add(thisHost().toLowerCase(Locale.ROOT));
      NetworkInterface.networkInterfaces()
          .flatMap(NetworkInterface::inetAddresses)
          .filter(Inet4Address.class::isInstance)
          .forEach(one -> names.add(one.getHostAddress()));
    }
    return Set.copyOf(names);
  }

  private static String thisHost() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (IOException _) {
      return "127.0.0.1"; // a host that does not know its own name
    }
  }

  /** As a browser writes an IPv6 address. */
  private static String bracketed(String host) {
    return host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host;
  }
}
