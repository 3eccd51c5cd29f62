package dev.flotilla.collective;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.world.World;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A rank that meets the others, exchanges something with them, and says what it listens on. */
public final class MeetingRank {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private MeetingRank() {}

  /** Runs the rank. */
  public static void main(String[] arguments) throws Exception {
    var world = World.join();
    var settings = CollectiveSettings.defaults().withTimeout(PATIENCE).withJoinTimeout(PATIENCE);
    try (var _ = TensorScope.open();
        var group = Collectives.join(world, settings)) {
      var tensor = Tensors.floats(1, 1000);
      group.allReduce(tensor, Reduction.SUM, Traffic.EXCHANGE).await();
      System.out.println("sum " + Tensors.values(tensor)[0]);
      var store = group.keyValueStore().section("test");
      store.set("rank " + world.rank(), "was here");
      group.barrier();
      for (int rank = 0; rank < world.size(); rank++) {
        System.out.println("rank %d %s".formatted(rank, await(store, "rank " + rank)));
      }
      var half = group.subgroup(0, 1);
      half.barrier();
      System.out.println("listens on " + listening());
      group.barrier();
    }
    System.out.println("closed");
  }

  private static String await(KeyValueStore store, String key) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (store.get(key).isEmpty() && System.nanoTime() < deadline) {
      Thread.sleep(5);
    }
    return store.get(key).orElse("did not come");
  }

  /** Returns the ports of this process, as the kernel writes them. */
  private static List<String> listening() throws Exception {
    Set<String> own = new HashSet<>();
    try (var descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path descriptor : descriptors) {
        if (Files.exists(descriptor, LinkOption.NOFOLLOW_LINKS)) {
          own.add(Files.readSymbolicLink(descriptor).toString());
        }
      }
    } catch (NoSuchFileException gone) {
      // The folder's own descriptor is listed too, and is closed by now.
    }
    return Files.readAllLines(Path.of("/proc/self/net/tcp")).stream()
        .map(line -> line.strip().split(" +", -1))
        .filter(it -> it[3].equals("0A") && own.contains("socket:[" + it[9] + "]"))
        .map(it -> it[1])
        .toList();
  }
}
