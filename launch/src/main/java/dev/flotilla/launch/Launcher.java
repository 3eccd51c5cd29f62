package dev.flotilla.launch;

import dev.flotilla.control.JobKey;
import dev.flotilla.control.PrivateFiles;
import dev.flotilla.world.RankEnvironment;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

/**
 * Starts the ranks of this host, watches them, and stops them all when one fails.
 *
 * <p>Ranks of one host meet through a file in a private temporary folder and open no port beyond
 * loopback; ranks of several hosts meet at the master's address. The output of each goes to {@code
 * workerlog.N} in the log folder, N the number on this host, and that of the first to standard
 * output as well.
 */
public final class Launcher {

  private final LaunchOutput output;
  private final Map<String, String> environment;
  private final int cores;
  private final Path temporary;
  private final Console console;

  /**
   * Creates a launcher.
   *
   * @param output where to write
   * @param environment what ranks inherit
   */
  public Launcher(LaunchOutput output, Map<String, String> environment) {
    this(
        output,
        environment,
        Runtime.getRuntime().availableProcessors(),
        Path.of(System.getProperty("java.io.tmpdir")));
  }

  Launcher(LaunchOutput output, Map<String, String> environment, int cores, Path temporary) {
    this.output = output;
    this.environment = Map.copyOf(environment);
    this.cores = cores;
    this.temporary = temporary;
    this.console = new Console(output);
  }

  /**
   * Runs all ranks of this host to their end.
   *
   * <p>Must be called on a platform thread: ranks die with the thread that started them. When this
   * JVM is asked to end, or the thread is interrupted, the ranks are stopped first.
   *
   * @param beforeRanks runs after the configuration is printed and before any rank starts, for
   *     example to unpack libraries that all ranks share
   * @throws LaunchException if ranks cannot be started as asked
   */
  public LaunchResult run(LaunchSettings settings, RankCommand command, Runnable beforeRanks) {
    if (Thread.currentThread().isVirtual()) {
      throw new IllegalStateException("ranks must be launched from a platform thread");
    }
    LauncherWatch.ofParent(environment);
    Optional<JobKey> key = JobKeys.of(settings, console);
    show(FleetTables.configuration(arguments(settings, command)));
    beforeRanks.run();
    try (var interruption = Interruption.listen()) {
      return launch(settings, command, key, interruption);
    }
  }

  private void show(String table) {
    if (output.hasTables()) {
      console.print(table);
    }
  }

  private static SortedMap<String, String> arguments(LaunchSettings settings, RankCommand command) {
    SortedMap<String, String> arguments = settings.arguments();
    arguments.put("training_script", command.mainClass());
    arguments.put("training_script_args", command.arguments().toString());
    return arguments;
  }

  private LaunchResult launch(
      LaunchSettings settings,
      RankCommand command,
      Optional<JobKey> key,
      Interruption interruption) {
    try (var folder = MeetingFolder.create(temporary, console::say)) {
      var starter =
          new RankStarter(
              settings,
              folder,
              environment,
              output.terminalColumns(),
              cores,
              SecureStart.alias(settings, key));
      prepareLogs(settings, starter);
      show(
          FleetTables.environment(
              settings.processes(), RankEnvironment.shown(starter.variables(0, 0))));
      try (var room =
          ControlRoom.open(settings, folder, starter.masterPort(), key, environment, console)) {
        return new Attempts(settings, command, starter, room, interruption, console).run();
      }
    } catch (IOException e) {
      // Files that an interrupted thread opens are closed under it.
      if (Thread.currentThread().isInterrupted()) {
        return LaunchResult.interrupted();
      }
      throw new LaunchException("cannot start the ranks: " + FileTrouble.in(e));
    }
  }

  private static void prepareLogs(LaunchSettings settings, RankStarter starter) throws IOException {
    Path folder = settings.logDir();
    if (Files.exists(folder) && !Files.isDirectory(folder)) {
      throw new LaunchException("the log folder %s is a file".formatted(folder));
    }
    PrivateFiles.createFolders(folder);
    try (var out = PrivateFiles.newFile(folder.resolve("endpoints.log"))) {
      String lines = String.join("\n", starter.endpointLines()) + "\n";
      out.write(lines.getBytes(StandardCharsets.UTF_8));
    }
  }
}
