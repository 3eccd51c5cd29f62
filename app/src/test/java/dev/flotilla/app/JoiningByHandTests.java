package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.testkit.FreePorts;
import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ranks that no launcher has started, but whose environment says where they belong. */
class JoiningByHandTests {

  private static final Duration DIFFERENCE_IS_TOLD = Duration.ofSeconds(5);

  @TempDir Path folder;

  @Test
  void ranksStartedByHandTrainTogether() throws IOException {
    int port = FreePorts.next();
    try (var first = start(0, port);
        var second = start(1, port)) {
      assertThat(first.await().expect(0).out()).contains("on 2 ranks", "done: accuracy ");
      second.await().expect(0);
    }
    var summary = new RunFiles(Flotilla.in(folder).work().resolve("run-0")).summary();
    assertThat(summary.get("ranks").asInt()).isEqualTo(2);
    assertThat(summary.get("collectives").asInt()).isEqualTo(20);
    assertThat(Flotilla.in(folder).work().resolve("run-1")).doesNotExist();
  }

  @Test
  void ranksWithDifferentRecipesAreToldApartBeforeTheyTrain() throws IOException {
    int port = FreePorts.next();
    try (var first = start(0, port, "--set=optimizer.lr=0.1");
        var second = start(1, port, "--set=optimizer.lr=0.2")) {
      awaitMeeting(second, port);
      for (var rank : new Running[] {first, second}) {
        var ended = rank.await(DIFFERENCE_IS_TOLD).expect(ExitCodes.USAGE).explainsItself();
        assertThat(ended.err())
            .startsWith("flotilla: the ranks of this job differ: ")
            .contains("optimizer.lr", "0.1", "0.2", "rank 0", "rank 1");
      }
    }
    assertThat(Flotilla.in(folder).files()).noneMatch(file -> file.contains("summary"));
  }

  private static void awaitMeeting(Running rank, int port) {
    Awaitility.await()
        .pollInterval(Duration.ofMillis(20))
        .atMost(Running.PATIENCE)
        .until(() -> !rank.process().isAlive() || isConnected(rank, port));
  }

  private static boolean isConnected(Running rank, int port) {
    return TcpSocket.of(rank.process().toHandle()).stream().anyMatch(it -> it.peerPort() == port);
  }

  @Test
  void aMasterThatCannotBeReachedIsNamed() throws IOException {
    int port = FreePorts.next();
    try (var rank = start(1, port, "--set=join_timeout=1s")) {
      var ended = rank.await().expect(ExitCodes.RENDEZVOUS_FAILED).explainsItself();
      assertThat(ended.err())
          .startsWith("flotilla: rank 1 could not reach the master at 127.0.0.1:" + port)
          .contains("within 1.0 s", "MASTER_ADDR and MASTER_PORT");
    }
  }

  @Test
  void aRankThatDoesNotComeIsNamed() throws IOException {
    try (var rank = start(0, FreePorts.next(), "--set=join_timeout=1s")) {
      var ended = rank.await().expect(ExitCodes.RENDEZVOUS_FAILED).explainsItself();
      assertThat(ended.err()).contains("rank 1 of 2 did not arrive");
    }
  }

  @Test
  void aBusyPortIsNamed() throws IOException {
    try (var server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        var rank = start(0, server.getLocalPort())) {
      var ended = rank.await().expect(ExitCodes.RENDEZVOUS_FAILED).explainsItself();
      assertThat(ended.err())
          .contains("port %d on 127.0.0.1 is in use".formatted(server.getLocalPort()));
    }
  }

  @Test
  void aPlaceWithoutAMasterIsNamed() {
    var flotilla = Flotilla.in(folder).with("RANK", 1).with("WORLD_SIZE", 2);
    var ended = flotilla.run("train").expect(ExitCodes.USAGE).explainsItself();
    assertThat(ended.err()).contains("MASTER_ADDR is not set");
    assertThat(flotilla.files()).isEmpty();
  }

  private Running start(int rank, int port, String... more) {
    var flotilla =
        Flotilla.in(folder)
            .with("RANK", rank)
            .with("WORLD_SIZE", 2)
            .with("MASTER_ADDR", "127.0.0.1")
            .with("MASTER_PORT", port);
    var arguments = new ArrayList<String>();
    arguments.addAll(List.of("train", "--out=run-" + rank, "--max-steps=20"));
    arguments.addAll(List.of("--set=model={name: mlp, hidden: [16]}", "--set=threads=1"));
    arguments.addAll(List.of(more));
    return flotilla.start(arguments.toArray(String[]::new));
  }
}
