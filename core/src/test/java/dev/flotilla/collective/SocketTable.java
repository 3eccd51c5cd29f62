package dev.flotilla.collective;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What listens on this host. */
final class SocketTable {

  private static final String LISTENING = "0A";

  private SocketTable() {}

  /** Returns the addresses, in hexadecimal, on which a port is listened on. */
  static List<String> listeners(int port) throws IOException {
    var suffix = ":%04X".formatted(port);
    try (var lines = Files.lines(Path.of("/proc/self/net/tcp"))) {
      return lines
          .map(line -> line.strip().split("\\s+"))
          .filter(fields -> fields[3].equals(LISTENING) && fields[1].endsWith(suffix))
          .map(fields -> fields[1].substring(0, fields[1].indexOf(':')))
          .toList();
    }
  }
}
