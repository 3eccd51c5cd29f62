package dev.flotilla.app;

import dev.flotilla.launch.LaunchOutput;
import dev.flotilla.launch.Launcher;
import dev.flotilla.launch.ParsedFlags;
import dev.flotilla.launch.RankCommand;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;

/** Starts ranks with this process's Java and class path. */
final class RankLaunch {

  private RankLaunch() {}

  /** Returns the command of a class of this program. */
  static RankCommand command(String mainClass, List<String> arguments) {
    return command(mainClass, arguments, arguments);
  }

  static RankCommand command(String mainClass, List<String> arguments, List<String> onRestart) {
    return new RankCommand(
        RankCommand.currentJava(),
        JvmOptions.ofRanks(),
        ownClassPath(),
        mainClass,
        arguments,
        onRestart);
  }

  static String ownClassPath() {
    return System.getProperty("java.class.path");
  }

  static LaunchOutput output(PrintStream people, ProgressMode progress) {
    return new LaunchOutput(people, System.err, progress.columns(System.getenv()));
  }

  /** Runs all ranks of this host to their end, and returns the exit code. */
  static int launch(ParsedFlags flags, Path logDir, RankCommand command, LaunchOutput output) {
    return new Launcher(output, System.getenv())
        .run(flags.settings().withLogDir(logDir), command, Unpacking::ensureDone)
        .exitCode();
  }

  static boolean isFirstHost(ParsedFlags flags) {
    return flags.settings().nodeRank() == 0;
  }
}
