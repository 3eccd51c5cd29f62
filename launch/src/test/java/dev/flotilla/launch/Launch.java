package dev.flotilla.launch;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** Launches {@link TestProgram}s and keeps what was printed. */
final class Launch {

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private final Path folder;
  private final Map<String, String> environment = new HashMap<>(System.getenv());
  private OptionalInt columns = OptionalInt.empty();
  private boolean hasTables = true;
  private Duration grace = LaunchSettings.DEFAULT_GRACE;
  private FailurePolicy policy = FailurePolicy.defaults();

  Launch(Path folder) {
    this.folder = folder;
  }

  Launch grace(Duration period) {
    grace = period;
    return this;
  }

  Launch policy(FailurePolicy other) {
    policy = other;
    return this;
  }

  Launch terminal(int width) {
    columns = OptionalInt.of(width);
    return this;
  }

  Launch withoutTables() {
    hasTables = false;
    return this;
  }

  Launch with(String name, String value) {
    environment.put(name, value);
    return this;
  }

  Launch without(String name) {
    environment.remove(name);
    return this;
  }

  LaunchResult run(int processes, String... steps) {
    return run(settings(processes), steps);
  }

  LaunchResult run(LaunchSettings settings, String... steps) {
    return launcher().run(settings, command(steps), () -> {});
  }

  LaunchSettings settings(int processes) {
    return LaunchSettings.oneHost(processes, logs()).withGrace(grace).withPolicy(policy);
  }

  Launcher launcher() {
    return new Launcher(
        new LaunchOutput(
            new PrintStream(out, true), new PrintStream(err, true), columns, hasTables),
        environment,
        4,
        folder);
  }

  static RankCommand command(String... steps) {
    return new RankCommand(
        RankCommand.currentJava(),
        List.of(
            "-Xshare:auto",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Xmx64m",
            "-XX:-CreateCoredumpOnCrash",
            "-XX:ErrorFile=/dev/null"),
        classPath(),
        TestProgram.class.getName(),
        List.of(steps));
  }

  static String classPath() {
    return place(RankMain.class) + File.pathSeparator + place(TestProgram.class);
  }

  private static String place(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  Path logs() {
    return folder.resolve("log");
  }

  Path log(int local) {
    return logs().resolve("workerlog." + local);
  }

  String out() {
    return out.toString(StandardCharsets.UTF_8);
  }

  String err() {
    return err.toString(StandardCharsets.UTF_8);
  }
}
