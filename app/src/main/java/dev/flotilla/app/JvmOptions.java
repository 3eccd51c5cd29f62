package dev.flotilla.app;

import dev.flotilla.memory.NativeLibraries;
import java.util.ArrayList;
import java.util.List;

/** The options of the JVMs that load libtorch. */
final class JvmOptions {

  private JvmOptions() {}

  static List<String> ofRanks() {
    List<String> options = new ArrayList<>();
    options.add("--enable-native-access=ALL-UNNAMED");
    options.add("-XX:+ExitOnOutOfMemoryError");
    options.add("-XX:-CreateCoredumpOnCrash");
    options.add("-Djdk.serialFilter=!*");
    NativeLibraries.properties().forEach((name, value) -> options.add("-D" + name + "=" + value));
    return options;
  }
}
