package dev.flotilla.launch;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
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
        onHost(
            new Launch(Path.of(args[0]))
                .grace(Duration.ofSeconds(1))
                .settings(Integer.parseInt(args[1])));
    String[] steps = Arrays.copyOfRange(args, 2, args.length);
    System.exit(launcher.run(settings, Launch.command(steps), () -> {}).exitCode());
  }

  /** Properties make this the launcher of one of two hosts. */
  private static LaunchSettings onHost(LaunchSettings plain) {
    int port = Integer.getInteger("test.port", 0);
    FailurePolicy policy =
        new FailurePolicy(
            Integer.getInteger("test.restarts", 0),
            plain.policy().stopGrace(),
            plain.policy().hangTimeout(),
            Optional.ofNullable(System.getProperty("test.key")).map(Path::of));
    return port == 0
        ? plain.withPolicy(policy)
        : new LaunchSettings(
            plain.processes(),
            2,
            Integer.getInteger("test.node"),
            Optional.of("127.0.0.1"),
            OptionalInt.of(port),
            plain.hosts(),
            plain.jobId(),
            plain.role(),
            plain.logDir(),
            plain.grace(),
            policy);
  }
}
