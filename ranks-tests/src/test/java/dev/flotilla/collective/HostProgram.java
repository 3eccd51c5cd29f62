package dev.flotilla.collective;

import dev.flotilla.launch.FailurePolicy;
import dev.flotilla.launch.LaunchOutput;
import dev.flotilla.launch.LaunchSettings;
import dev.flotilla.launch.Launcher;
import dev.flotilla.launch.RankCommand;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** The launcher of one host: {@code NODES NODE PORT FOLDER}, with the key of the job in FOLDER. */
public final class HostProgram {

  private HostProgram() {}

  /** Runs the launcher. */
  public static void main(String[] arguments) {
    int nodes = Integer.parseInt(arguments[0]);
    int node = Integer.parseInt(arguments[1]);
    Path folder = Path.of(arguments[3]);
    var policy =
        new FailurePolicy(
            0,
            Duration.ofSeconds(30),
            Duration.ofSeconds(60),
            nodes == 1 ? Optional.empty() : Optional.of(folder.resolve("key")));
    var settings =
        new LaunchSettings(
            2 / nodes,
            nodes,
            node,
            Optional.of("127.0.0.1"),
            OptionalInt.of(Integer.parseInt(arguments[2])),
            List.of(),
            "meeting",
            "default",
            folder.resolve("log" + node),
            Duration.ofSeconds(5),
            policy);
    var command =
        new RankCommand(
            RankCommand.currentJava(),
            List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
            System.getProperty("java.class.path"),
            MeetingRank.class.getName(),
            List.of());
    var output = new LaunchOutput(System.out, System.err, OptionalInt.empty());
    var launcher = new Launcher(output, System.getenv());
    System.exit(launcher.run(settings, command, () -> {}).exitCode());
  }
}
