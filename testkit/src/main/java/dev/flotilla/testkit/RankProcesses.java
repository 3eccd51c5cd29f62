package dev.flotilla.testkit;

import dev.flotilla.memory.NativeLibraries;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs the ranks of a job as real child processes, for tests that kill, stop or abort them.
 *
 * <p>The children have the class path of this process and the environment of a rank that meets the
 * others at a shared file. Whatever still runs when this is closed is killed.
 */
public final class RankProcesses implements AutoCloseable {

  private final TemporaryFolder folder;
  private final List<Process> processes;

  private RankProcesses(TemporaryFolder folder, List<Process> processes) {
    this.folder = folder;
    this.processes = processes;
  }

  /** Starts as many processes of a main class as there are ranks. */
  public static RankProcesses start(int size, Class<?> main, String... arguments) {
    return plan(size, main, arguments).start();
  }

  /** Prepares processes that need more than the usual environment. */
  public static Plan plan(int size, Class<?> main, String... arguments) {
    return new Plan(size, main, List.of(arguments), new LinkedHashMap<>(), 0);
  }

  /** Returns the process of a rank. */
  public Process process(int rank) {
    return processes.get(rank);
  }

  /** Returns the process handle of a rank, to send it a signal by its number. */
  public long pid(int rank) {
    return processes.get(rank).pid();
  }

  /** Returns what a rank has printed so far, on both streams. */
  public String output(int rank) {
    try {
      return Files.readString(outputFile(folder, rank));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the output of rank " + rank, e);
    }
  }

  /** Waits until a rank has printed a text. */
  public void awaitOutput(int rank, String text, Duration limit) {
    long end = System.nanoTime() + limit.toNanos();
    boolean canStillPrint = true;
    while (!output(rank).contains(text)) {
      if (System.nanoTime() > end || !canStillPrint) {
        throw new AssertionError(
            "rank %d never printed '%s' but%n%s".formatted(rank, text, output(rank)));
      }
      sleep();
      canStillPrint = processes.get(rank).isAlive();
    }
  }

  private static void sleep() {
    try {
      Thread.sleep(20);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for a rank", e);
    }
  }

  /** Waits until a rank has ended; kills all of them if it does not. */
  public RankResult await(int rank, Duration limit) {
    try {
      var process = processes.get(rank);
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        killAll();
        throw new AssertionError(
            "rank %d did not end within %s but printed%n%s".formatted(rank, limit, output(rank)));
      }
      return new RankResult(rank, process.exitValue(), output(rank));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for rank " + rank, e);
    }
  }

  /** Waits until all ranks have ended; the limit is for all of them together. */
  public List<RankResult> await(Duration limit) {
    long end = System.nanoTime() + limit.toNanos();
    var results = new ArrayList<RankResult>();
    for (int rank = 0; rank < processes.size(); rank++) {
      results.add(await(rank, Duration.ofNanos(Math.max(1_000_000, end - System.nanoTime()))));
    }
    return results;
  }

  /** Kills what still runs and deletes the folder of the job. */
  @Override
  public void close() {
    killAll();
    folder.close();
  }

  private void killAll() {
    processes.forEach(Process::destroyForcibly);
    processes.forEach(process -> process.onExit().join());
  }

  private static Path outputFile(TemporaryFolder folder, int rank) {
    return folder.path().resolve("output." + rank);
  }

  /**
   * How one rank ended.
   *
   * @param rank number of the rank
   * @param exitCode its exit code; 128 + n if signal n ended it
   * @param output what it printed on both streams
   */
  public record RankResult(int rank, int exitCode, String output) {}

  /**
   * Processes that are not yet started.
   *
   * @param size number of ranks
   * @param main class with the main method
   * @param arguments arguments of all ranks
   * @param environment variables on top of those of a rank
   * @param dataLimit kilobytes of memory of its own that each may take, or 0 for no limit
   */
  public record Plan(
      int size,
      Class<?> main,
      List<String> arguments,
      Map<String, String> environment,
      long dataLimit) {

    /** Returns this plan with one more variable. */
    public Plan with(String name, String value) {
      var more = new LinkedHashMap<>(environment);
      more.put(name, value);
      return new Plan(size, main, arguments, more, dataLimit);
    }

    /** Returns this plan with a limit to what each process may take; files it maps do not count. */
    public Plan withDataLimit(long kilobytes) {
      return new Plan(size, main, arguments, environment, kilobytes);
    }

    /** Starts all processes. */
    public RankProcesses start() {
      var folder = TemporaryFolder.create("processes");
      var processes = new ArrayList<Process>();
      var started = new RankProcesses(folder, processes);
      try {
        for (int rank = 0; rank < size; rank++) {
          processes.add(builder(folder, rank).start());
        }
        return started;
      } catch (IOException e) {
        started.close();
        throw new UncheckedIOException("cannot start a rank", e);
      }
    }

    private ProcessBuilder builder(TemporaryFolder folder, int rank) {
      var builder = new ProcessBuilder(command());
      builder.redirectErrorStream(true).redirectOutput(outputFile(folder, rank).toFile());
      var variables = builder.environment();
      variables.put("OMP_NUM_THREADS", "1");
      variables.put("RANK", Integer.toString(rank));
      variables.put("LOCAL_RANK", Integer.toString(rank));
      variables.put("WORLD_SIZE", Integer.toString(size));
      variables.put("LOCAL_WORLD_SIZE", Integer.toString(size));
      variables.put("FLOTILLA_RENDEZVOUS_FILE", folder.path().resolve("rendezvous").toString());
      variables.putAll(environment);
      return builder;
    }

    private List<String> command() {
      var command = new ArrayList<String>();
      if (dataLimit > 0) {
        command.addAll(List.of("sh", "-c", "ulimit -d " + dataLimit + "; exec \"$@\"", "sh"));
      }
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.add("--enable-native-access=ALL-UNNAMED");
      command.add("-XX:-CreateCoredumpOnCrash");
      command.add("-Xmx256m");
      command.add("-XX:TieredStopAtLevel=1");
      if (dataLimit > 0) {
        // What other collectors and the code cache set aside would count as well.
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:ReservedCodeCacheSize=32m"));
      }
      NativeLibraries.properties().forEach((name, value) -> command.add("-D" + name + "=" + value));
      command.add("-cp");
      command.add(System.getProperty("java.class.path"));
      command.add(main.getName());
      command.addAll(arguments);
      return command;
    }
  }
}
