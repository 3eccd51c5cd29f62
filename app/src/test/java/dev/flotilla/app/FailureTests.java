package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The first failure ends the job, is named with its cause, and leaves nothing behind. */
class FailureTests {

  private static final Duration ALL_STOPPED = Duration.ofSeconds(10);
  private static final Duration COLLECTIVE_TIMEOUT = Duration.ofSeconds(4);
  private static final Duration ORPHANS_LIVE = Duration.ofSeconds(5);

  @TempDir Path folder;
  private Flotilla flotilla;

  @BeforeEach
  void prepare() {
    flotilla = Flotilla.in(folder);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "{fuse_all_reduce: {size_mb: 0.05}}"})
  void namesTheRankThatWasKilled(String strategy) throws IOException {
    try (var job = startTraining("--set=strategy=" + strategy)) {
      var victim = job.rank(1);
      var ports = ports(job);

      Running.signal("KILL", victim);

      var report = job.await(ALL_STOPPED).expect(ExitCodes.SIGNAL + 9).err();
      assertNames(report, 1, victim.pid());
      assertThat(report).contains("ended    SIGKILL (exit code 137)").contains("cause    ");
      assertNothingIsLeft(job, ports);
    }
  }

  @Test
  void namesTheRankThatIsStopped() throws IOException {
    try (var job = startTraining("--set=timeout=4s")) {
      var victim = job.rank(1);
      var ports = ports(job);

      Running.signal("STOP", victim);

      var limit = COLLECTIVE_TIMEOUT.plus(ALL_STOPPED);
      var report = job.await(limit).expect(ExitCodes.PEER_FAILED).err();
      assertNames(report, 1, victim.pid());
      assertThat(report)
          .contains("ended    stopped by SIGSTOP")
          .containsPattern("cause    rank 1 .*is stopped \\(SIGSTOP\\); rank 0 waited for it: ");
      assertNothingIsLeft(job, ports);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "throw | 1 | cause    java.lang.IllegalStateException: the fifth update was too much",
        "exit | 3 | ended    exit code 3",
      })
  void namesTheRankWhoseProgramFails(String how, int exitCode, String cause) throws IOException {
    try (var job =
        flotilla.start("run", "--nproc=2", "--main", FailingProgram.class.getName(), "--", how)) {
      var victim = job.rank(1);
      awaitText(flotilla.work().resolve("log/workerlog.1"), "rank 1 has had enough");

      var report = job.await(ALL_STOPPED).expect(exitCode).err();

      assertNames(report, 1, victim.pid());
      assertThat(report).contains(cause).contains("    | rank 1 has had enough");
      assertThat(job.living()).isEmpty();
      assertThat(flotilla.files()).noneMatch(file -> file.startsWith("tmp/"));
    }
  }

  /** Gloo would abort, give wrong numbers, or wait for ever. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "size | all-reduce SUM of 8000 bytes of Float",
        "type | all-reduce SUM of 4000 bytes of Int",
        "order | barrier",
      })
  void namesTheRankThatCallsAnotherCollective(String how, String other) {
    var program = DifferingProgram.class.getName();
    var ended = flotilla.run("run", "--nproc=2", "--main", program, "--", how);

    assertThat(ended.expect(ExitCodes.USAGE).err())
        .contains(
            "collective 2 differs between ranks: rank 0 calls all-reduce SUM of 4000 bytes of"
                + " Float, rank 1 calls "
                + other);
  }

  @Test
  void ranksDieWithTheirLauncher() {
    try (var job = startTraining()) {
      assertThat(job.living()).hasSize(3);

      Running.signal("KILL", job.process().toHandle());

      Awaitility.await().atMost(ORPHANS_LIVE).until(() -> job.living().isEmpty());
    }
  }

  private Running startTraining(String... more) {
    var arguments =
        Stream.concat(
            List.of(
                "run",
                "--nproc=2",
                "--set=model={name: mlp, hidden: [16]}",
                "--set=threads=1",
                "--max-steps=9999999",
                "--out=run")
                .stream(),
            Stream.of(more));
    var job = flotilla.start(arguments.toArray(String[]::new));
    job.awaitTraining(flotilla.work().resolve("run"));
    return job;
  }

  private static void awaitText(Path file, String text) {
    Awaitility.await()
        .atMost(Running.PATIENCE)
        .until(() -> Files.exists(file) && Files.readString(file).contains(text));
  }

  private static Set<Integer> ports(Running job) {
    var ports =
        job.living().stream()
            .flatMap(process -> TcpSocket.of(process).stream())
            .map(TcpSocket::port)
            .collect(Collectors.toSet());
    assertThat(ports).isNotEmpty();
    return ports;
  }

  private static void assertNames(String report, int rank, long pid) throws IOException {
    var host = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    assertThat(report)
        .contains("flotilla: rank " + rank + " failed, all ranks of this host are stopped")
        .contains("\n  rank     " + rank + "\n")
        .contains("\n  host     " + host + "\n")
        .contains("\n  pid      " + pid + "\n")
        .contains("\n  log      ")
        .doesNotContain("\tat ");
  }

  /** After a failure, nothing that looks like a result may be there either. */
  private void assertNothingIsLeft(Running job, Set<Integer> ports) throws IOException {
    assertThat(job.living()).isEmpty();
    assertThat(flotilla.files())
        .contains("work/run/events.jsonl", "work/run/log/workerlog.1")
        .noneMatch(file -> file.contains("summary") || file.contains("safetensors"))
        .noneMatch(file -> file.startsWith("tmp/"));
    var sockets = Files.readString(Path.of("/proc/net/tcp"));
    for (int port : ports) {
      assertThat(sockets)
          .as("a socket on port %d that is connected (01) or listens (0A)", port)
          .doesNotContainPattern("(?m)^ *\\d+: \\w+:%04X \\w+:\\w+ (01|0A) ".formatted(port));
    }
  }
}
