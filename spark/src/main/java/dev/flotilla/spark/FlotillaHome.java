package dev.flotilla.spark;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A folder with Flotilla on an executor's host, and a JDK that can run it.
 *
 * @param lib folder with all jars
 * @param java the java executable
 * @param cache start-up cache of the jars; one that does not exist is not used
 * @param options options of every JVM that trains
 */
record FlotillaHome(Path lib, Path java, Path cache, List<String> options) {

  private static final int NEEDED = 25;
  private static final List<String> USUAL =
      List.of("/usr/lib/jvm", "/usr/java", "/opt", "/opt/java");

  /**
   * Finds Flotilla and a JDK.
   *
   * @param home a checkout that was built, or a folder with {@code lib} and perhaps {@code jdk}
   * @param jdk folder of a JDK; empty to look for one
   * @throws SparkJobException if one of them is missing, with what to do
   */
  static FlotillaHome find(String home, String jdk, Map<String, String> environment) {
    var folder = Path.of(home).toAbsolutePath();
    var lib =
        Stream.of(folder.resolve("lib"), folder.resolve("app/target/lib"))
            .filter(FlotillaHome::holdsFlotilla)
            .findFirst()
            .orElseThrow(
                () ->
                    refused(
                        ("no Flotilla in %s: spark.flotilla.home must name a folder whose lib holds"
                                + " its jars, on every executor's host")
                            .formatted(folder)));
    var java =
        candidates(folder, jdk, environment)
            .filter(each -> majorOf(each) >= NEEDED)
            .findFirst()
            .orElseThrow(
                () ->
                    refused(
                        ("no JDK %d or later: install one, put it into %s/jdk, or name it by"
                                + " spark.flotilla.jdk")
                            .formatted(NEEDED, folder)));
    var options =
        environment.getOrDefault("FLOTILLA_JAVA_OPTIONS", "-XX:+UseSerialGC -Xmn32m").strip();
    return new FlotillaHome(
        lib,
        java.resolve("bin/java"),
        lib.resolveSibling("start.aot"),
        options.isEmpty() ? List.of() : List.of(options.split("\\s+", -1)));
  }

  private static SparkJobException refused(String why) {
    return new SparkJobException(ExitCode.USAGE, why);
  }

  private static boolean holdsFlotilla(Path lib) {
    try (var jars = Files.list(lib)) {
      return jars.anyMatch(jar -> jar.getFileName().toString().startsWith("flotilla-app"));
    } catch (IOException e) {
      return false;
    }
  }

  private static Stream<Path> candidates(Path home, String jdk, Map<String, String> environment) {
    if (!jdk.isEmpty()) {
      return Stream.of(Path.of(jdk));
    }
    List<Path> all = new ArrayList<>(List.of(home.resolve("jdk")));
    Optional.ofNullable(environment.get("JAVA_HOME")).map(Path::of).ifPresent(all::add);
    all.add(Path.of(System.getProperty("java.home")));
    USUAL.forEach(parent -> all.addAll(below(Path.of(parent))));
    return all.stream();
  }

  private static List<Path> below(Path parent) {
    try (var folders = Files.list(parent)) {
      return folders.sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  /** Reads the JDK's own note of its version; starting java to ask takes longer. */
  private static int majorOf(Path jdk) {
    try (var lines = Files.lines(jdk.resolve("release"))) {
      return Files.isExecutable(jdk.resolve("bin/java"))
          ? lines
              .filter(line -> line.startsWith("JAVA_VERSION="))
              .map(line -> line.replaceAll("[^0-9.]", "").split("\\.", -1)[0])
              .filter(major -> !major.isEmpty())
              .mapToInt(Integer::parseInt)
              .findFirst()
              .orElse(0)
          : 0;
    } catch (IOException | RuntimeException e) {
      return 0;
    }
  }

  /** Returns the cache of linked classes, where there is one. */
  Optional<Path> startUpCache() {
    return Optional.of(cache).filter(Files::exists);
  }

  /** Returns the command line of a launcher; its ranks have the cores, so it compiles little. */
  List<String> launcher(List<String> arguments) {
    return command(List.of("-XX:TieredStopAtLevel=1"), arguments);
  }

  /** Returns the command line of Flotilla's own program. */
  List<String> command(List<String> arguments) {
    return command(List.of(), arguments);
  }

  private List<String> command(List<String> more, List<String> arguments) {
    List<String> words =
        new ArrayList<>(
            List.of(
                java.toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:-CreateCoredumpOnCrash",
                "-Djdk.serialFilter=!*"));
    words.addAll(more);
    words.addAll(options);
    startUpCache()
        .ifPresent(file -> words.addAll(List.of("-XX:AOTCache=" + file, "-Xlog:aot*=off")));
    words.addAll(List.of("-cp", lib + File.separator + "*", "dev.flotilla.app.Main"));
    words.addAll(arguments);
    return words;
  }
}
