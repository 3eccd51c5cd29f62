package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ranks without a launcher around them. */
class RankMainTests {

  @TempDir Path folder;
  private final List<Process> ranks = new ArrayList<>();

  @AfterEach
  void endAll() {
    ranks.forEach(Process::destroyForcibly);
  }

  @Test
  void endsWhenItsLauncherIsGoneAlready() throws Exception {
    Process other = new ProcessBuilder("sleep", "0").start();
    other.waitFor();

    Process rank =
        start(Map.of("FLOTILLA_LAUNCHER_PID", Long.toString(other.pid())), "*:sleep:60000");

    assertThat(rank.waitFor(10, TimeUnit.SECONDS)).isTrue();
    assertThat(rank.exitValue()).isEqualTo(1);
  }

  @Test
  void runsTheProgramWithoutALauncher() throws Exception {
    Process rank = start(Map.of(), "*:sleep:200", "*:exit:9");

    assertThat(rank.waitFor(10, TimeUnit.SECONDS)).isTrue();
    assertThat(rank.exitValue()).isEqualTo(9);
  }

  @Test
  void endsAlthoughAShutdownHookNeverReturns() throws Exception {
    Process rank = start(Map.of(), "*:ignoreTerm", "*:throw:x");

    assertThat(rank.waitFor(15, TimeUnit.SECONDS)).isTrue();
    assertThat(rank.exitValue()).isEqualTo(1);
  }

  private Process start(Map<String, String> environment, String... steps) throws IOException {
    var builder = new ProcessBuilder(Launch.command(steps).commandLine(false));
    builder.redirectErrorStream(true).redirectOutput(folder.resolve("out").toFile());
    builder.environment().put("RANK", "0");
    builder.environment().putAll(environment);
    Process rank = builder.start();
    ranks.add(rank);
    return rank;
  }
}
