package dev.flotilla.app;

import dev.flotilla.memory.NativeLibraries;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The options of the JVMs that load libtorch. */
final class JvmOptions {

  /** The variable with options for every JVM that trains; ./flotilla reads it as well. */
  static final String VARIABLE = "FLOTILLA_JAVA_OPTIONS";

  /** Tensors live outside the heap: a collector with threads of its own only takes cores. */
  private static final String DEFAULT = "-XX:+UseSerialGC";

  private JvmOptions() {}

  static List<String> ofRanks() {
    return ofRanks(System.getenv());
  }

  static List<String> ofRanks(Map<String, String> environment) {
    List<String> options = new ArrayList<>();
    options.add("--enable-native-access=ALL-UNNAMED");
    options.add("-XX:+ExitOnOutOfMemoryError");
    options.add("-XX:-CreateCoredumpOnCrash");
    options.add("-Djdk.serialFilter=!*");
    var chosen = environment.getOrDefault(VARIABLE, DEFAULT).strip();
    options.addAll(chosen.isEmpty() ? List.of() : List.of(chosen.split("\\s+")));
    NativeLibraries.properties().forEach((name, value) -> options.add("-D" + name + "=" + value));
    return options;
  }
}
