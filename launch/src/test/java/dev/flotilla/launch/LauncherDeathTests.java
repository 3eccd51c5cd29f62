package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("slow")
class LauncherDeathTests {

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  @TempDir Path folder;
  private final List<ProcessHandle> ranks = new ArrayList<>();
  private @Nullable LauncherProcess launcher;

  @AfterEach
  void endAll() {
    if (launcher != null) {
      launcher.close();
    }
  }

  @Test
  void ranksDieWithALauncherThatIsKilledAlsoStoppedOnes() throws Exception {
    Process process = launch("2:signal:STOP", "*:sleep:60000");
    awaitRanks(3);
    await().atMost(PATIENCE).until(() -> ProcessTable.isStopped(ranks.get(2).pid()));

    process.destroyForcibly();

    await()
        .atMost(Duration.ofSeconds(5))
        .until(() -> ranks.stream().noneMatch(ProcessHandle::isAlive));
  }

  @ParameterizedTest
  @CsvSource({"INT, 130", "TERM, 143"})
  void anInterruptedLauncherStopsItsRanksFirst(String signal, int exitCode) throws Exception {
    Process process = launch("1:ignoreTerm", "*:sleep:60000");
    awaitRanks(3);

    new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start().waitFor();

    assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(exitCode);
    assertThat(ranks).noneMatch(ProcessHandle::isAlive);
    assertThat(Files.readString(folder.resolve("out"))).contains("flotilla: interrupted");
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left).noneMatch(file -> file.getFileName().toString().startsWith("flotilla-"));
    }
  }

  @Test
  void takesAnInterruptionFromTheKeyboardForNoFailure() throws Exception {
    Process process = launch("*:sleep:60000");
    awaitRanks(3);

    String group = "-" + process.pid();
    new ProcessBuilder("kill", "-INT", "--", group).start().waitFor();

    assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(130);
    assertThat(ranks).noneMatch(ProcessHandle::isAlive);
    assertThat(Files.readString(folder.resolve("out")))
        .contains("flotilla: interrupted")
        .doesNotContain("failed");
  }

  @Test
  void endsWithTheFailedRanksExitCode() throws Exception {
    Process process = launch("1:exit:42", "*:sleep:60000");

    assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(42);
  }

  @Test
  void needsLittleMemoryWhateverRanksPrint() throws Exception {
    Process process = launch("0:spew:100", "1:spew:100");

    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isZero();
    long line = 100L * 1024 * 1024 + "end\n".length();
    assertThat(folder.resolve("log/workerlog.0")).hasSize(line);
    assertThat(folder.resolve("log/workerlog.1")).hasSize(line);
    assertThat(Files.size(folder.resolve("out"))).isGreaterThan(line);
  }

  private Process launch(String... steps) throws IOException {
    launcher = LauncherProcess.start(folder, 3, steps);
    return launcher.process();
  }

  private void awaitRanks(int count) throws IOException {
    ranks.addAll(Objects.requireNonNull(launcher).awaitRanks(count).ranks());
  }
}
