package dev.flotilla.app;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.world.RankEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs one process per test host to the end; if one fails, none is left. */
final class HostProcesses {

  private static final long LONGEST_MINUTES = 60;
  private static final int LAST_LINES = 15;

  private HostProcesses() {}

  /**
   * Runs all commands at once.
   *
   * @param folder takes their output
   * @throws ConfigException with the last lines of the first one that failed
   */
  static void run(List<List<String>> commands, Path folder)
      throws IOException, InterruptedException {
    List<Process> processes = new ArrayList<>();
    Runnable end = () -> processes.forEach(HostProcesses::kill);
    var atExit = new Thread(end, "flotilla-bench-end");
    Runtime.getRuntime().addShutdownHook(atExit);
    try {
      for (int i = 0; i < commands.size(); i++) {
        processes.add(start(commands.get(i), log(folder, i)));
      }
      awaitAll(processes, folder);
    } finally {
      end.run();
      Runtime.getRuntime().removeShutdownHook(atExit);
    }
  }

  private static Path log(Path folder, int host) {
    return folder.resolve("host-%d.log".formatted(host));
  }

  private static Process start(List<String> command, Path log) throws IOException {
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.redirectOutput(log.toFile());
    // One thread for each of several libraries; on shared cores more would fight each other.
    var environment = builder.environment();
    environment.putAll(Map.of(RankEnvironment.OMP_NUM_THREADS, "1", "OPENBLAS_NUM_THREADS", "1"));
    environment.putIfAbsent(RankEnvironment.MALLOC_ARENA_MAX, RankEnvironment.MALLOC_ARENAS);
    environment.putIfAbsent(RankEnvironment.GLIBC_TUNABLES, RankEnvironment.JOINED_BLOCKS);
    return builder.start();
  }

  private static void awaitAll(List<Process> processes, Path folder)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(LONGEST_MINUTES);
    while (processes.stream().anyMatch(Process::isAlive)) {
      for (int i = 0; i < processes.size(); i++) {
        var process = processes.get(i);
        boolean isOver = !process.isAlive() || process.waitFor(200, TimeUnit.MILLISECONDS);
        if (isOver && process.exitValue() != 0) {
          throw failed(i, folder, "ended with exit code " + process.exitValue());
        }
      }
      if (System.nanoTime() > end) {
        throw failed(0, folder, "ran longer than %d minutes".formatted(LONGEST_MINUTES));
      }
    }
  }

  private static ConfigException failed(int host, Path folder, String how) throws IOException {
    var lines = Files.readAllLines(log(folder, host));
    var last = lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size());
    return new ConfigException(
        "bench", "host %d %s; its last lines:%n%s".formatted(host, how, String.join("\n", last)));
  }

  private static void kill(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
