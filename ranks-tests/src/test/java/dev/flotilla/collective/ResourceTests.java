package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.testkit.FreePorts;
import dev.flotilla.testkit.RankProcesses;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.world.Rendezvous;
import dev.flotilla.world.World;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ResourceTests {

  @Test
  void leavesNoThreadAndNoDescriptorBehind() throws Exception {
    joinAndLeave();
    joinAndLeaveOverTcp();
    long descriptors = entries("/proc/self/fd");
    for (int i = 0; i < 10; i++) {
      joinAndLeave();
      joinAndLeaveOverTcp();
    }
    assertThat(entries("/proc/self/fd")).isLessThanOrEqualTo(descriptors + 2);
    // The system's thread goes a moment after Java's has ended.
    await()
        .atMost(Duration.ofSeconds(10))
        .untilAsserted(() -> assertThat(threadsOfRanks()).isEmpty());
  }

  private static void joinAndLeave() {
    Ranks.run(
        2,
        group -> {
          group.barrier();
          group.subgroup(1, 0).barrier();
          assertThat(threadsOfRanks()).isNotEmpty();
        });
  }

  private static void joinAndLeaveOverTcp() throws IOException {
    var master = new Rendezvous.Tcp("127.0.0.1", FreePorts.next(), false);
    Ranks.of(2)
        .callWorlds(
            world -> {
              try (var group = Collectives.join(over(master, world), settings())) {
                group.barrier();
                return group.rank();
              }
            });
  }

  @Test
  void oneHostListensOnLoopbackAlone() throws Exception {
    int port = FreePorts.next();
    var master = new Rendezvous.Tcp("localhost", port, false);
    Ranks.run(2, group -> assertThat(foreignSockets()).isEmpty());
    Ranks.of(2)
        .callWorlds(
            world -> {
              try (var group = Collectives.join(over(master, world), settings())) {
                group.barrier();
                assertThat(foreignSockets()).isEmpty();
                assertThat(ownSockets()).anyMatch(line -> line.contains(":%04X ".formatted(port)));
                group.barrier();
                return group.rank();
              }
            });
  }

  @Test
  void manyOperationsTakeNoMemoryAndPrintNothing() {
    var plan = RankProcesses.plan(2, ManyOperations.class).with("MALLOC_ARENA_MAX", "1");
    try (var ranks = plan.start()) {
      assertThat(ranks.await(Duration.ofMinutes(2)))
          .allSatisfy(
              result -> {
                assertThat(result.exitCode()).as(result.output()).isZero();
                assertThat(result.output()).matches("joining\ngrew by -?\\d+ bytes\n");
                assertThat(growth(result.output())).isLessThan(1_000_000);
              });
    }
  }

  private static long growth(String output) {
    return Long.parseLong(output.replaceAll("[^-0-9]", ""));
  }

  private static CollectiveSettings settings() {
    return CollectiveSettings.defaults()
        .withTimeout(Duration.ofSeconds(10))
        .withJoinTimeout(Duration.ofSeconds(10));
  }

  private static World over(Rendezvous rendezvous, World world) {
    return new World(world.rank(), world.size(), world.rank(), world.size(), 0, 1, rendezvous);
  }

  private static long entries(String folder) throws IOException {
    try (var entries = Files.list(Path.of(folder))) {
      return entries.count();
    }
  }

  /** Threads that native code starts inherit the name of the rank's thread. */
  private static List<String> threadsOfRanks() throws IOException {
    try (var tasks = Files.list(Path.of("/proc/self/task"))) {
      return tasks.map(ResourceTests::threadName).filter(name -> name.startsWith("rank-")).toList();
    }
  }

  private static String threadName(Path task) {
    try {
      return Files.readString(task.resolve("comm")).strip();
    } catch (IOException e) {
      return "gone";
    }
  }

  /** Returns the sockets of this process that are bound or connected beyond loopback. */
  private static Set<String> foreignSockets() throws IOException {
    var foreign = new HashSet<String>();
    for (var line : ownSockets()) {
      var local = line.strip().split("\\s+", -1)[1];
      var address = local.substring(0, local.indexOf(':'));
      boolean isLoopback = address.endsWith("7F") || address.equals("0".repeat(24) + "01000000");
      if (!isLoopback) {
        foreign.add(line);
      }
    }
    return foreign;
  }

  private static Set<String> ownSockets() throws IOException {
    var inodes = ownInodes();
    var own = new HashSet<String>();
    for (var table : new String[] {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
      Files.readAllLines(Path.of(table)).stream()
          .skip(1)
          .filter(line -> inodes.contains(line.strip().split("\\s+", -1)[9]))
          .forEach(own::add);
    }
    return own;
  }

  private static Set<String> ownInodes() throws IOException {
    var inodes = new HashSet<String>();
    try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
      descriptors.forEach(descriptor -> addInode(descriptor, inodes));
    }
    return inodes;
  }

  private static void addInode(Path descriptor, Set<String> inodes) {
    try {
      var target = Files.readSymbolicLink(descriptor).toString();
      if (target.startsWith("socket:[")) {
        inodes.add(target.substring(8, target.length() - 1));
      }
    } catch (IOException e) {
      // The descriptor was closed meanwhile.
    }
  }
}
