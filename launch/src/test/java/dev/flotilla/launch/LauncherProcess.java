package dev.flotilla.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** A {@link LauncherProgram} with its ranks, whose process ids are known. */
record LauncherProcess(Process process, Path folder, List<ProcessHandle> ranks)
    implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /** Starts a launcher that leads a process group, as one started from a terminal does. */
  static LauncherProcess start(Path folder, int processes, String... steps) throws IOException {
    return start(List.of(), folder, processes, steps);
  }

  /** Starts a launcher with properties that {@link LauncherProgram} knows. */
  static LauncherProcess start(List<String> properties, Path folder, int processes, String... steps)
      throws IOException {
    return start(List.of(), properties, folder, processes, steps);
  }

  /** Starts a launcher with variables, such as {@code NAME=value}, and properties. */
  static LauncherProcess start(
      List<String> variables, List<String> properties, Path folder, int processes, String... steps)
      throws IOException {
    var command = new ArrayList<String>();
    command.add("setsid");
    // A build that a script has put into the background ignores SIGINT, and so would its children.
    command.addAll(List.of("env", "--default-signal=INT"));
    command.addAll(variables);
    command.add(RankCommand.currentJava().toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx24m"));
    properties.forEach(property -> command.add("-D" + property));
    command.addAll(List.of("-cp", Launch.classPath(), LauncherProgram.class.getName()));
    command.addAll(List.of(folder.toString(), Integer.toString(processes)));
    for (int rank = 0; rank < processes; rank++) {
      command.add("@%d:pid:%s".formatted(rank, folder.resolve("pid." + rank)));
    }
    command.addAll(List.of(steps));
    Process launcher =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("out").toFile())
            .start();
    return new LauncherProcess(launcher, folder, new ArrayList<>());
  }

  /** Waits until so many ranks run. */
  LauncherProcess awaitRanks(int count) throws IOException {
    for (int rank = ranks.size(); rank < count; rank++) {
      Path file = folder.resolve("pid." + rank);
      Awaitility.await().atMost(PATIENCE).until(() -> Files.exists(file) && Files.size(file) > 0);
      ranks.add(ProcessHandle.of(Long.parseLong(Files.readString(file))).orElseThrow());
    }
    return this;
  }

  /** Waits until a rank's log holds a text. */
  void awaitLog(int rank, String text) {
    Path file = log(rank);
    Awaitility.await()
        .atMost(PATIENCE)
        .until(() -> Files.exists(file) && content(file).contains(text));
  }

  static void signal(String name, long pid) throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + name, "--", Long.toString(pid)).start().waitFor();
  }

  /** Waits for the launcher's end; returns its exit code. */
  int await(int seconds) throws InterruptedException {
    if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
      throw new AssertionError("the launcher still runs: " + out());
    }
    return process.exitValue();
  }

  String out() {
    return content(folder.resolve("out"));
  }

  String logOf(int rank) {
    return content(log(rank));
  }

  private Path log(int rank) {
    return folder.resolve("log/workerlog." + rank);
  }

  private static String content(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return "";
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
    ranks.forEach(ProcessHandle::destroyForcibly);
  }
}
