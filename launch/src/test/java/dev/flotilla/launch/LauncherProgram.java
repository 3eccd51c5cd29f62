package dev.flotilla.launch;

import java.nio.file.Path;
import java.time.Duration;
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
        new Launch(Path.of(args[0]))
            .grace(Duration.ofSeconds(1))
            .settings(Integer.parseInt(args[1]));
    String[] steps = Arrays.copyOfRange(args, 2, args.length);
    System.exit(launcher.run(settings, Launch.command(steps), () -> {}).exitCode());
  }
}
