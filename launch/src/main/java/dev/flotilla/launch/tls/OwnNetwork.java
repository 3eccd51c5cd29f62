package dev.flotilla.launch.tls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Names the loopback interface of this process. */
final class OwnNetwork {

  private OwnNetwork() {}

  /** Launchers of one machine, or of one container, have the same. */
  static String name() {
    try {
      String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
      return boot + "/" + Files.readSymbolicLink(Path.of("/proc/self/ns/net"));
    } catch (IOException e) {
      return "process/" + ProcessHandle.current().pid();
    }
  }
}
