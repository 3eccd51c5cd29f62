package dev.flotilla.launch;

import dev.flotilla.world.World;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A rank that was started.
 *
 * @param world its place in the job
 * @param process its process; signals go to the handle, as {@link Process#destroy} closes pipes
 * @param pump what carries its output
 * @param log its log file
 * @param errorFile where it notes the cause of a failure
 */
record RankProcess(World world, Process process, LogPump pump, Path log, Path errorFile) {

  /** Starts a rank; the calling thread must outlive it, for the rank dies with that thread. */
  static RankProcess start(
      World world,
      List<String> command,
      Map<String, String> environment,
      RankLog log,
      Path errorFile,
      Console console)
      throws IOException {
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().clear();
    builder.environment().putAll(environment);
    Process process = builder.start();
    try {
      // A program that reads its input finds the end of it rather than wait for ever.
      process.getOutputStream().close();
      var pump = LogPump.start(process.getInputStream(), log, console, world.localRank() == 0);
      return new RankProcess(world, process, pump, log.file(), errorFile);
    } catch (IOException e) {
      process.destroyForcibly();
      throw e;
    }
  }

  int rank() {
    return world.rank();
  }

  long pid() {
    return process.pid();
  }

  ProcessHandle handle() {
    return process.toHandle();
  }

  boolean isStopped() {
    return ProcessTable.isStopped(pid());
  }

  Optional<ErrorFile> error() {
    return ErrorFile.read(errorFile);
  }

  /** Returns the name of this rank for a message. */
  String label() {
    return "rank %d (pid %d)".formatted(rank(), pid());
  }
}
