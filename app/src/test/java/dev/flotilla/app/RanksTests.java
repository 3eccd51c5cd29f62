package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.world.ExitCodes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One to four ranks train the same job; each number of ranks runs once for most tests. */
class RanksTests {

  private static final int UPDATES = 30;

  /** Bytes exchanged per update: each parameter on its alignment of 16, loss sum and count. */
  private static final long PAYLOAD = 4 * (1024 * 32 + 32 + 32 * 10 + 16 + 3);

  private static final Map<Integer, RunFiles> RUNS = new HashMap<>();

  @TempDir static Path folder;

  @ParameterizedTest
  @ValueSource(ints = 3) // two: each resumed run of KillAndResumeTests
  void theSameRunGivesTheSameWeights(int ranks) {
    assertThat(launch(ranks, "again-" + ranks).weights()).isEqualTo(run(ranks).weights());
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void ranksLearnWhatOneProcessLearnsFromTheWholeBatch(int ranks) {
    var alone = run(1).tensors();
    var together = run(ranks).tensors();
    assertThat(together.keySet()).isEqualTo(alone.keySet()).contains("fc1.weight", "fc2.bias");
    alone.forEach(
        (name, expected) ->
            assertThat(relativeDifference(expected, together.getOrDefault(name, new float[0])))
                .as(name)
                .isLessThanOrEqualTo(1e-6));
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void exchangesOncePerUpdate(int ranks) {
    var summary = run(ranks).summary();
    assertThat(summary.get("ranks").asInt()).isEqualTo(ranks);
    assertThat(summary.get("updates").asInt()).isEqualTo(UPDATES);
    assertThat(summary.get("collectives").asInt()).isEqualTo(UPDATES);
    assertThat(summary.get("scalar_collectives").asInt()).isPositive();
    assertThat(summary.get("bytes_sent").asLong())
        .isEqualTo(UPDATES * (2L * (ranks - 1) * PAYLOAD / ranks));
  }

  @Test
  void everyRankHasItsLog() {
    var log = run(3).folder().resolve("log");
    assertThat(log.resolve("workerlog.0")).content().contains("done: accuracy ");
    assertThat(log.resolve("workerlog.1")).content().isEmpty();
    assertThat(log.resolve("workerlog.2")).content().isEmpty();
  }

  @Tag("quick")
  @Test
  void aWarningIsSaidOnceAndOneUpdateIsOne() {
    var ended =
        Flotilla.in(folder.resolve("once"))
            .run(
                "run",
                "--nproc=2",
                "--set=model=mlp",
                "--set=strategy.gradient_merge.k_steps=2",
                "--max-steps=1",
                "--out=run")
            .expect(0);
    var said = ended.out() + ended.err();
    assertThat(said).containsOnlyOnce("merging makes the batch 2 times larger");
    assertThat(said).contains("parameters on 2 ranks: 1 update in 1 epoch");
  }

  @Test
  void listensNowhereOnceItTrainsAndEndsWhenAsked() {
    var flotilla = Flotilla.in(folder.resolve("long"));
    try (var job =
        flotilla.start("run", "--nproc=2", "--set=model=mlp", "--max-steps=9999999", "--out=run")) {
      job.awaitTraining(flotilla.work().resolve("run"));
      var sockets = job.living().stream().flatMap(it -> TcpSocket.of(it).stream()).toList();
      assertThat(sockets)
          .isNotEmpty()
          .noneMatch(TcpSocket::isListening)
          .allMatch(TcpSocket::isLoopback);

      Running.signal("TERM", job.process().toHandle());

      var ended = job.await(Duration.ofSeconds(20)).expect(ExitCodes.STOPPED);
      assertThat(ended.err())
          .contains("flotilla: asked to stop (SIGTERM); the ranks agree on where")
          .containsPattern("flotilla: all ranks stop after micro-step \\d+ and save");
      assertThat(job.living()).isEmpty();
      assertThat(flotilla.files()).noneMatch(file -> file.startsWith("tmp/"));
    }
  }

  private static RunFiles run(int ranks) {
    return RUNS.computeIfAbsent(ranks, it -> launch(it, "first-" + it));
  }

  /** Trains on 64 samples per update, whatever the number of ranks. */
  private static RunFiles launch(int ranks, String name) {
    var libraries = folder.resolve("libraries-" + name);
    var flotilla = Flotilla.in(folder).withJvmOption("-Xlog:library=info:file=" + libraries);
    var batch = 64 % ranks == 0 ? "batch=" + 64 / ranks : "global_batch=64";
    try (var job =
        flotilla.start(
            "run",
            "--nproc=" + ranks,
            "--set=model={name: mlp, hidden: [32]}",
            "--set=threads=1",
            "--set=" + batch,
            "--max-steps=" + UPDATES,
            "--out=" + name)) {
      var ended = job.await().expect(0);
      assertThat(ended.out()).contains("done: accuracy ");
      assertThat(ended.err()).isEmpty();
      assertThat(job.living()).isEmpty();
    }
    assertThat(libraries).content().contains("libnio").doesNotContain("torch");
    assertThat(flotilla.files()).noneMatch(file -> file.startsWith("tmp/"));
    return new RunFiles(flotilla.work().resolve(name));
  }

  private static double relativeDifference(float[] expected, float[] actual) {
    assertThat(actual).hasSameSizeAs(expected);
    double difference = 0;
    double largest = 0;
    for (int i = 0; i < expected.length; i++) {
      difference = Math.max(difference, Math.abs((double) expected[i] - actual[i]));
      largest = Math.max(largest, Math.abs(expected[i]));
    }
    return difference / largest;
  }
}
