package dev.flotilla.spark;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A launcher with its rank, whose output goes to the executor's, and which never outlives a task.
 */
final class ChildProcess implements AutoCloseable {

  private static final int KEPT_LINES = 25;
  private static final long GRACE_SECONDS = 10;

  private final Process process;
  private final Thread pump;
  private final Deque<String> last = new ArrayDeque<>();

  private ChildProcess(Process process, int rank) {
    this.process = process;
    this.pump = new Thread(() -> copy(rank), "flotilla-log-" + rank);
    pump.setDaemon(true);
    pump.start();
  }

  static ChildProcess start(
      List<String> command, Map<String, String> variables, Path folder, int rank)
      throws IOException {
    var builder = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
    var environment = builder.environment();
    // What other launchers left for their own processes is not meant for this one.
    environment
        .keySet()
        .removeIf(name -> name.startsWith("PET_") || name.equals("JOB_COMPLETION_INDEX"));
    environment.putAll(variables);
    var process = builder.start();
    process.getOutputStream().close();
    return new ChildProcess(process, rank);
  }

  private void copy(int rank) {
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      for (var line = lines.readLine(); line != null; line = lines.readLine()) {
        System.out.println("[rank " + rank + "] " + line);
        keep(line);
      }
    } catch (IOException e) {
      // The process has ended; what it still had to say is lost with it.
    }
  }

  private synchronized void keep(String line) {
    last.addLast(line);
    if (last.size() > KEPT_LINES) {
      last.removeFirst();
    }
  }

  /** Returns the last lines of its output. */
  synchronized String lastLines() {
    return String.join("\n", last);
  }

  long pid() {
    return process.pid();
  }

  /** Waits a little; tells whether it has ended. */
  boolean hasEnded(long millis) throws InterruptedException {
    return process.waitFor(millis, TimeUnit.MILLISECONDS);
  }

  /** Returns its exit code, with all of its output copied. */
  int exitCode() throws InterruptedException {
    pump.join(TimeUnit.SECONDS.toMillis(GRACE_SECONDS));
    return process.exitValue();
  }

  /** Asks it to stop, then kills it and all that it has started. */
  @Override
  public void close() {
    if (!process.isAlive()) {
      return;
    }
    process.destroy();
    boolean isInterrupted = Thread.interrupted(); // a task that is cancelled still cleans up
    boolean hasEnded = false;
    try {
      hasEnded = process.waitFor(GRACE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      isInterrupted = true;
    }
    if (!hasEnded) { // its ranks end with it
      process.destroyForcibly();
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
