package dev.flotilla.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The name of this host, found without asking the network. */
final class HostName {

  private static final Path KERNEL = Path.of("/proc/sys/kernel/hostname");

  private HostName() {}

  static String local() {
    try {
      return Files.readString(KERNEL).strip();
    } catch (IOException e) {
      return System.getenv().getOrDefault("HOSTNAME", "localhost");
    }
  }
}
