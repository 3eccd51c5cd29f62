package dev.flotilla.spark;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;

/**
 * Two executors in processes of their own, from the jars of the class path, on Java 17 if found.
 */
final class LocalCluster {

  private static final Path SPARK_HOME =
      Path.of(Objects.requireNonNull(System.getenv("SPARK_HOME")));

  /** For ranks with and without Spark, which are over before the better compiler pays. */
  static final Map<String, String> QUICK_TO_START =
      Map.of("FLOTILLA_JAVA_OPTIONS", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1");

  private LocalCluster() {}

  static SparkSession start() throws IOException {
    var jars = Files.createDirectories(SPARK_HOME.resolve("jars"));
    for (var entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      if (entry.endsWith(".jar")) {
        link(jars, Path.of(entry));
      }
    }
    link(jars, Path.of(System.getProperty("flotilla.test.spark.jar")));
    var session =
        SparkSession.builder()
            .appName("test")
            .master("local-cluster[2,1,1024]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.authenticate", "true")
            .config("spark.authenticate.secret", "a secret of a test")
            .config("spark.network.crypto.enabled", "true")
            .config(Requirements.BARRIER_TIMEOUT, "60s")
            .config(Requirements.HOME, System.getProperty("flotilla.test.home"))
            .config("spark.executor.extraJavaOptions", "-XX:TieredStopAtLevel=1");
    QUICK_TO_START.forEach((name, value) -> session.config("spark.executorEnv." + name, value));
    older().forEach(java -> session.config("spark.executorEnv.JAVA_HOME", java.toString()));
    return session.getOrCreate();
  }

  private static void link(Path folder, Path jar) throws IOException {
    var link = folder.resolve(jar.getFileName());
    Files.deleteIfExists(link);
    Files.createSymbolicLink(link, jar.toAbsolutePath());
  }

  /** A cluster's Java is often older than the one that trains. */
  private static Stream<Path> older() {
    return Stream.of("/usr/lib/jvm/java-17-openjdk-amd64", "/usr/lib/jvm/java-17-openjdk-arm64")
        .map(Path::of)
        .filter(java -> Files.isExecutable(java.resolve("bin/java")))
        .limit(1);
  }

  static List<ProcessHandle> executors() {
    return processes("CoarseGrainedExecutorBackend");
  }

  static List<ProcessHandle> ranks() {
    return processes("dev.flotilla.launch.RankMain");
  }

  /** Returns the living processes below this one whose command line holds a word. */
  static List<ProcessHandle> processes(String word) {
    return ProcessHandle.current()
        .descendants()
        .filter(process -> commandLine(process).contains(word))
        .toList();
  }

  private static String commandLine(ProcessHandle process) {
    try {
      return Files.readString(
          Path.of("/proc", String.valueOf(process.pid()), "cmdline"), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return ""; // it has ended
    }
  }

  static void signal(String name, ProcessHandle process) {
    try {
      var kill = new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid())).start();
      if (!kill.waitFor(10, TimeUnit.SECONDS)) {
        throw new IllegalStateException("kill takes longer than 10 s");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
