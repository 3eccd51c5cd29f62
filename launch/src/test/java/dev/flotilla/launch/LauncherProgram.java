package dev.flotilla.launch;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.OptionalInt;

/** A launcher in a process of its own: {@code LauncherProgram FOLDER NPROC STEP...}. */
public final class LauncherProgram {

  private LauncherProgram() {}

  /** Launches and ends with the launch's exit code. */
  public static void main(String[] args) {
    var launcher =
        new Launcher(
            new LaunchOutput(System.out, System.err, OptionalInt.empty()),
            System.getenv(),
            2,
            Path.of(args[0]));
    LaunchSettings settings =
        LaunchSettings.oneHost(Integer.parseInt(args[1]), Path.of(args[0], "log"));
    String[] steps = Arrays.copyOfRange(args, 2, args.length);
    System.exit(launcher.run(settings, Launch.command(steps), () -> {}).exitCode());
  }
}
