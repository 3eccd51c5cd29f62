package dev.flotilla.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A TCP socket of a process, as the kernel lists it.
 *
 * @param address local address in hexadecimal, in the kernel's byte order
 * @param port local port
 * @param peerPort port at the other end; 0 if there is none
 */
record TcpSocket(String address, int port, int peerPort) {

  private static final String IPV6_LOOPBACK = "00000000000000000000000001000000";

  /** Returns the sockets of a process; none if it has ended. */
  static List<TcpSocket> of(ProcessHandle process) {
    var folder = Path.of("/proc/" + process.pid());
    var found = new ArrayList<TcpSocket>();
    try {
      var inodes = inodes(folder.resolve("fd"));
      for (var table : List.of("net/tcp", "net/tcp6")) {
        Files.readAllLines(folder.resolve(table)).stream()
            .skip(1)
            .map(line -> line.strip().split("\\s+", -1))
            .filter(fields -> inodes.contains(fields[9]))
            .map(fields -> parse(fields[1], fields[2]))
            .forEach(found::add);
      }
    } catch (IOException e) {
      // It has ended meanwhile.
    }
    return found;
  }

  private static Set<String> inodes(Path descriptors) throws IOException {
    var inodes = new HashSet<String>();
    try (Stream<Path> all = Files.list(descriptors)) {
      for (var descriptor : all.toList()) {
        var target = target(descriptor);
        if (target.startsWith("socket:[")) {
          inodes.add(target.substring(8, target.length() - 1));
        }
      }
    }
    return inodes;
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return ""; // closed meanwhile
    }
  }

  private static TcpSocket parse(String local, String remote) {
    return new TcpSocket(local.substring(0, local.indexOf(':')), portOf(local), portOf(remote));
  }

  private static int portOf(String endpoint) {
    return Integer.parseInt(endpoint.substring(endpoint.indexOf(':') + 1), 16);
  }

  /** Tells whether only processes of this host can reach it; 127.x.y.z ends with 7F. */
  boolean isLoopback() {
    return address.endsWith("7F") || address.equals(IPV6_LOOPBACK);
  }

  boolean isListening() {
    return peerPort == 0;
  }
}
