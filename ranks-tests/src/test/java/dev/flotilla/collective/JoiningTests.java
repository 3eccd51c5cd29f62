package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.testkit.FreePorts;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.world.Rendezvous;
import dev.flotilla.world.World;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class JoiningTests {

  private static final CollectiveSettings IMPATIENT =
      CollectiveSettings.defaults()
          .withTimeout(Duration.ofSeconds(5))
          .withJoinTimeout(Duration.ofSeconds(1));

  @TempDir private Path folder;

  @Test
  void ranksThatDidNotArriveAreNamed() {
    var messages =
        Ranks.of(4)
            .callWorlds(
                world ->
                    world.rank() % 2 == 1
                        ? ""
                        : String.valueOf(failureOf(world, IMPATIENT).getMessage()));
    assertThat(messages.getFirst())
        .startsWith("rank 0 on ")
        .contains("waited 1.0 s at ")
        .contains("rendezvous")
        .contains("ranks 1, 3 of 4 did not arrive");
    assertThat(messages.get(2)).contains("ranks 1, 3 of 4");
  }

  @Test
  void ranksThatDidNotArriveAtTheMasterAreNamed() throws IOException {
    var master = new Rendezvous.Tcp("127.0.0.1", FreePorts.next(), false);
    assertThat(failureOf(world(0, 2, master), IMPATIENT))
        .hasMessageContaining("at " + "127.0.0.1:" + master.port())
        .hasMessageContaining("rank 1 of 2 did not arrive");
  }

  @Test
  void unreachableMasterIsNamed() throws IOException {
    var master = new Rendezvous.Tcp("127.0.0.1", FreePorts.next(), false);
    var failure = failureOf(world(1, 2, master), IMPATIENT);
    assertThat(failure).hasMessageContaining("rank 1 could not reach the master at 127.0.0.1:");
    assertThat(failure.exitCode()).isEqualTo(6);
  }

  @Test
  void masterThatComesLateIsWaitedFor() throws IOException {
    var master = new Rendezvous.Tcp("127.0.0.1", FreePorts.next(), false);
    var sizes =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  if (world.isLeader()) {
                    Thread.sleep(500);
                  }
                  var own = world(world.rank(), 2, master);
                  try (var group = Collectives.join(own, CollectiveSettings.defaults())) {
                    return group.size();
                  }
                });
    assertThat(sizes).containsExactly(2, 2);
  }

  @Test
  void busyPortIsNamed() throws IOException {
    try (var server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      var master = new Rendezvous.Tcp("127.0.0.1", server.getLocalPort(), false);
      assertThat(failureOf(world(0, 2, master), IMPATIENT))
          .hasMessageContaining("port %d on 127.0.0.1 is in use".formatted(master.port()));
    }
  }

  @Test
  void rankThatComesTwiceIsRefused() {
    var file = new Rendezvous.SharedFile(folder.resolve("meeting"));
    assertThat(failureOf(world(0, 2, file), IMPATIENT)).hasMessageContaining("rank 1 of 2");
    assertThat(failureOf(world(0, 2, file), IMPATIENT))
        .hasMessageContaining("is not the first rank 0")
        .hasMessageContaining("every run needs a fresh one");
  }

  @Test
  void missingFolderIsNamed() {
    var file = new Rendezvous.SharedFile(folder.resolve("missing").resolve("meeting"));
    assertThat(failureOf(world(0, 2, file), IMPATIENT)).hasMessageContaining("does not exist");
  }

  @Test
  void networkInterfaceCanBeChosen() throws IOException {
    var master = new Rendezvous.Tcp("127.0.0.1", FreePorts.next(), false);
    var sizes =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  var environment = Map.of("GLOO_SOCKET_IFNAME", "lo");
                  var own = world(world.rank(), 2, master);
                  try (var group =
                      GlooWorld.join(
                          own, CollectiveSettings.defaults(), environment, ComputeDevice.CPU)) {
                    group.barrier();
                    return group.size();
                  }
                });
    assertThat(sizes).containsExactly(2, 2);
  }

  @Test
  void leaderWaitsForReadersBeforeItTakesTheStoreAway() throws IOException {
    var master = new Rendezvous.Tcp("127.0.0.1", FreePorts.next(), false);
    Ranks.of(3)
        .callWorlds(
            world -> {
              var own = world(world.rank(), 3, master);
              try (var group = Collectives.join(own, CollectiveSettings.defaults())) {
                Agreement.check(group, Map.of("lr", "1"), Duration.ofSeconds(5));
                var wrong = Map.of("lr", Integer.toString(group.rank()));
                assertThatThrownBy(() -> Agreement.check(group, wrong, Duration.ofSeconds(5)))
                    .isInstanceOf(AgreementException.class);
                return group.rank();
              }
            });
  }

  private static RendezvousException failureOf(World world, CollectiveSettings settings) {
    return catchThrowableOfType(
        RendezvousException.class, () -> Collectives.join(world, settings).close());
  }

  private static World world(int rank, int size, Rendezvous rendezvous) {
    return new World(rank, size, rank, size, 0, 1, rendezvous);
  }
}
