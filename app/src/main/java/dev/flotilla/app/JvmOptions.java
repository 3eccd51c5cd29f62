package dev.flotilla.app;

import dev.flotilla.memory.NativeLibraries;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The options of the JVMs that load libtorch. */
final class JvmOptions {

  /** The variable with options for every JVM that trains; ./flotilla reads it as well. */
  static final String VARIABLE = "FLOTILLA_JAVA_OPTIONS";

  /** The variable with the path of a start-up cache of the class path; ./flotilla sets it. */
  static final String CACHE_VARIABLE = "FLOTILLA_AOT_CACHE";

  /**
   * Tensors live outside the heap: a collector with threads of its own only takes cores, and what a
   * step leaves need not be spread over 128 MB of pages.
   */
  private static final String DEFAULT = "-XX:+UseSerialGC -Xmn32m";

  /**
   * The better compiler comes later: it makes much code of what runs at the start alone, on cores
   * that operations of libtorch want.
   */
  private static final List<String> COMPILATION =
      List.of(
          "-XX:Tier4InvocationThreshold=50000",
          "-XX:Tier4MinInvocationThreshold=6000",
          "-XX:Tier4CompileThreshold=150000",
          "-XX:Tier4BackEdgeThreshold=400000");

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
    // Settings are bound once: to make code for each constructor takes longer than to call it.
    options.add("-Djdk.reflect.useNativeAccessorOnly=true");
    options.addAll(COMPILATION);
    var chosen = environment.getOrDefault(VARIABLE, DEFAULT).strip();
    options.addAll(chosen.isEmpty() ? List.of() : List.of(chosen.split("\\s+")));
    var cache = environment.getOrDefault(CACHE_VARIABLE, "");
    if (!cache.isBlank()) {
      options.add("-XX:AOTCache=" + cache);
      // A cache that does not fit, to other options of the JVM for example, is merely not used.
      options.add("-Xlog:aot*=off");
    }
    NativeLibraries.properties().forEach((name, value) -> options.add("-D" + name + "=" + value));
    return options;
  }
}
