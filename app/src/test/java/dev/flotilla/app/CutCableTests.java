package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The cable between two hosts is pulled while they train: each names the other and ends. The hosts
 * are network namespaces; needs root and {@code ip}.
 */
@Tag("thorough")
@Timeout(180)
class CutCableTests {

  private static final Duration NAMED_WITHIN = Duration.ofSeconds(10);
  private static final Duration ENDED_WITHIN = Duration.ofSeconds(25);

  @TempDir Path folder;

  @BeforeEach
  void writeKey() throws IOException {
    KeyFile.write(folder.resolve("job.key"), "5eaf00d1".repeat(8));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void eachHostNamesTheOther(int end) throws Exception {
    try (var hosts = TwoHosts.connect();
        var first = start(hosts, 0);
        var second = start(hosts, 1)) {
      first.awaitTraining(host(0).work().resolve("run"));
      Thread.sleep(1000);

      hosts.cut(end);
      var cut = Instant.now();

      assertNamed(first, 1, cut);
      assertNamed(second, 0, cut);
      assertEnded(first, 0, cut);
      assertEnded(second, 1, cut);
    }
  }

  private Flotilla host(int node) {
    return Flotilla.in(folder.resolve("host" + node));
  }

  private Running start(TwoHosts hosts, int node) {
    return host(node)
        .through("ip", "netns", "exec", hosts.name(node))
        .start(
            "run",
            "--nnodes=2",
            "--nproc=2",
            "--node-rank=" + node,
            "--master-addr=" + hosts.address(0),
            "--master-port=29500",
            "--job-key-file=" + folder.resolve("job.key"),
            "--set=model={name: mlp, hidden: [16]}",
            "--set=threads=1",
            "--max-steps=9999999",
            "--out=run");
  }

  private static void assertNamed(Running launcher, int other, Instant cut) {
    var left = NAMED_WITHIN.minus(Duration.between(cut, Instant.now()));
    Awaitility.await()
        .atMost(left)
        .untilAsserted(
            () ->
                assertThat(launcher.err())
                    .contains(
                        "the launcher of host %d is silent for 5 s: its host or the link to it"
                            .formatted(other)));
  }

  private void assertEnded(Running launcher, int node, Instant cut) throws IOException {
    var left = ENDED_WITHIN.minus(Duration.between(cut, Instant.now()));
    int other = 1 - node;
    var ended = launcher.await(left).expect(ExitCodes.HANG).explainsItself();
    assertThat(ended.err())
        .contains("host     host " + other)
        .contains("cause    host %d: silent for 8 s".formatted(other))
        .containsPattern("ranks? %d.* last seen .*silent for 8 s".formatted(2 * other));
    assertThat(launcher.living()).isEmpty();
    var host = Flotilla.in(folder.resolve("host" + node));
    assertThat(host.files()).noneMatch(file -> file.startsWith("tmp/"));
    for (int rank : node == 0 ? List.of(0, 1) : List.of(2, 3)) {
      assertThat(host.work().resolve("run/log/threads.rank-%d.txt".formatted(rank)))
          .content()
          .contains("\"main\"");
    }
  }
}
