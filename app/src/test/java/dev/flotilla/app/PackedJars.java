package dev.flotilla.app;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * The jars that the build has packed, which users run as well, with a start-up cache of them.
 *
 * <p>Maven names their folder; without it, in an IDE, commands run from this process's class path.
 */
final class PackedJars {

  /** Short runs are all start-up: the quick compiler alone, and less of it, is half the work. */
  static final String QUICK_TO_START =
      "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=3";

  private static final String FOLDER = System.getProperty("flotilla.test.jars", "");

  private static final long LONGEST_SECONDS = 300;

  private PackedJars() {}

  /** Returns the class path of a command, with the programs among these tests behind the jars. */
  static String classPath() {
    return FOLDER.isEmpty()
        ? System.getProperty("java.class.path")
        : jars() + File.pathSeparator + ownClasses();
  }

  private static Path ownClasses() {
    try {
      return Path.of(PackedJars.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String jars() {
    try (var files = Files.list(Path.of(FOLDER))) {
      return files
          .map(Path::toString)
          .filter(name -> name.endsWith(".jar"))
          .sorted()
          .collect(Collectors.joining(File.pathSeparator));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the path of the cache, which the first caller waits for; empty in an IDE. */
  static String startUpCache() {
    return FOLDER.isEmpty() ? "" : Cache.MADE;
  }

  private static final class Cache {
    static final String MADE = make();
  }

  private static String make() {
    var cache = Path.of("target", "test-start.aot").toAbsolutePath();
    var log = Path.of("target", "test-start.log");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(JvmOptions.ofRanks(Map.of(JvmOptions.VARIABLE, QUICK_TO_START)));
    command.addAll(List.of("-XX:AOTCacheOutput=" + cache, "-cp", jars()));
    command.addAll(List.of(Main.class.getName(), "warm-up"));
    try {
      Files.deleteIfExists(cache);
      var process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();
      boolean ended = process.waitFor(LONGEST_SECONDS, TimeUnit.SECONDS);
      if (!ended || process.exitValue() != 0 || !Files.exists(cache)) {
        process.destroyForcibly();
        throw new AssertionError("no start-up cache was made; it said: " + Files.readString(log));
      }
      return cache.toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
