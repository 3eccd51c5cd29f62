package dev.flotilla.app;

import java.util.List;

/** The options of the JVMs that load libtorch. */
final class JvmOptions {

  private JvmOptions() {}

  static List<String> ofRanks() {
    return List.of(
        "--enable-native-access=ALL-UNNAMED",
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:-CreateCoredumpOnCrash",
        "-Djdk.serialFilter=!*");
  }
}
