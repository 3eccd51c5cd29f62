package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LauncherDeathTests {

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  @TempDir Path folder;
  private final List<Process> launchers = new ArrayList<>();
  private final List<ProcessHandle> ranks = new ArrayList<>();

  @AfterEach
  void endAll() {
    launchers.forEach(Process::destroyForcibly);
    ranks.forEach(ProcessHandle::destroyForcibly);
  }

  @Test
  void ranksDieWithALauncherThatIsKilledAlsoStoppedOnes() throws Exception {
    Process launcher = launch("2:signal:STOP", "*:sleep:60000");
    awaitRanks(3);
    await().atMost(PATIENCE).until(() -> ProcessTable.isStopped(ranks.get(2).pid()));

    launcher.destroyForcibly();

    await()
        .atMost(Duration.ofSeconds(5))
        .until(() -> ranks.stream().noneMatch(ProcessHandle::isAlive));
  }

  @ParameterizedTest
  @CsvSource({"INT, 130", "TERM, 143"})
  void anInterruptedLauncherStopsItsRanksFirst(String signal, int exitCode) throws Exception {
    Process launcher = launch("1:ignoreTerm", "*:sleep:60000");
    awaitRanks(3);

    new ProcessBuilder("kill", "-" + signal, Long.toString(launcher.pid())).start().waitFor();

    assertThat(launcher.waitFor(10, TimeUnit.SECONDS)).isTrue();
    assertThat(launcher.exitValue()).isEqualTo(exitCode);
    assertThat(ranks).noneMatch(ProcessHandle::isAlive);
    assertThat(Files.readString(folder.resolve("out"))).contains("flotilla: interrupted");
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left).noneMatch(file -> file.getFileName().toString().startsWith("flotilla-"));
    }
  }

  @Test
  void takesAnInterruptionFromTheKeyboardForNoFailure() throws Exception {
    Process launcher = launch("*:sleep:60000");
    awaitRanks(3);

    String group = "-" + launcher.pid();
    new ProcessBuilder("kill", "-INT", "--", group).start().waitFor();

    assertThat(launcher.waitFor(10, TimeUnit.SECONDS)).isTrue();
    assertThat(launcher.exitValue()).isEqualTo(130);
    assertThat(ranks).noneMatch(ProcessHandle::isAlive);
    assertThat(Files.readString(folder.resolve("out")))
        .contains("flotilla: interrupted")
        .doesNotContain("failed");
  }

  @Test
  void endsWithTheFailedRanksExitCode() throws Exception {
    Process launcher = launch("1:exit:42", "*:sleep:60000");

    assertThat(launcher.waitFor(20, TimeUnit.SECONDS)).isTrue();
    assertThat(launcher.exitValue()).isEqualTo(42);
  }

  @Test
  void needsLittleMemoryWhateverRanksPrint() throws Exception {
    Process launcher = launch("0:spew:100", "1:spew:100");

    assertThat(launcher.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(launcher.exitValue()).isZero();
    long line = 100L * 1024 * 1024 + "end\n".length();
    assertThat(folder.resolve("log/workerlog.0")).hasSize(line);
    assertThat(folder.resolve("log/workerlog.1")).hasSize(line);
    assertThat(Files.size(folder.resolve("out"))).isGreaterThan(line);
  }

  private Process launch(String... steps) throws IOException {
    var command = new ArrayList<String>();
    // Leads a process group, as a program started from a terminal does.
    command.add("setsid");
    command.add(RankCommand.currentJava().toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx24m"));
    command.addAll(List.of("-cp", Launch.classPath(), LauncherProgram.class.getName()));
    command.addAll(List.of(folder.toString(), "3"));
    for (int rank = 0; rank < 3; rank++) {
      command.add("%d:pid:%s".formatted(rank, folder.resolve("pid." + rank)));
    }
    command.addAll(List.of(steps));
    Process launcher =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("out").toFile())
            .start();
    launchers.add(launcher);
    return launcher;
  }

  private void awaitRanks(int count) throws IOException {
    for (int rank = 0; rank < count; rank++) {
      Path file = folder.resolve("pid." + rank);
      await().atMost(PATIENCE).until(() -> Files.exists(file) && Files.size(file) > 0);
      ranks.add(ProcessHandle.of(Long.parseLong(Files.readString(file))).orElseThrow());
    }
  }
}
