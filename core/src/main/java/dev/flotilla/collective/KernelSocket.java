package dev.flotilla.collective;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * A TCP socket of this network, as the kernel lists it.
 *
 * @param local its own address
 * @param port its own port
 * @param remote address of its other end
 * @param isListening whether it has no other end, and waits for one
 * @param name what its descriptors are links to
 */
record KernelSocket(
    InetAddress local, int port, InetAddress remote, boolean isListening, String name) {

  private static final String LISTENING = "0A";

  /** Returns all sockets, of other processes too. */
  static List<KernelSocket> all() throws IOException {
    var sockets = new ArrayList<KernelSocket>();
    for (String table : new String[] {"tcp", "tcp6"}) {
      Path file = Path.of("/proc/self/net", table);
      if (Files.exists(file)) {
        Files.readAllLines(file).stream()
            .map(line -> line.strip().split(" +", -1))
            .filter(fields -> fields.length > 9 && fields[1].contains(":"))
            .forEach(fields -> sockets.add(parse(fields)));
      }
    }
    return sockets;
  }

  private static KernelSocket parse(String[] fields) {
    int port = Integer.parseInt(fields[1].substring(fields[1].indexOf(':') + 1), 16);
    return new KernelSocket(
        address(fields[1].substring(0, fields[1].indexOf(':'))),
        port,
        address(fields[2].substring(0, fields[2].indexOf(':'))),
        fields[3].equals(LISTENING),
        "socket:[" + fields[9] + "]");
  }

  /** Words of four bytes, each of them in the order of the machine, which is little-endian. */
  private static InetAddress address(String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    byte[] ordered = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      ordered[i] = bytes[i - i % 4 + 3 - i % 4];
    }
    try {
      return InetAddress.getByAddress(ordered);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("the kernel lists no address: " + hex, e);
    }
  }
}
