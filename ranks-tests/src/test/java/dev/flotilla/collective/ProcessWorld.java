package dev.flotilla.collective;

import dev.flotilla.world.Rendezvous;
import dev.flotilla.world.World;
import java.nio.file.Path;
import java.time.Duration;

/** Joins the collectives of a child process that a test has started. */
final class ProcessWorld {

  private ProcessWorld() {}

  static Collective join(Duration timeout) {
    return Collectives.join(
        here(), CollectiveSettings.defaults().withTimeout(timeout).withJoinTimeout(timeout));
  }

  private static World here() {
    int rank = Integer.parseInt(System.getenv("RANK"));
    int size = Integer.parseInt(System.getenv("WORLD_SIZE"));
    var file = Path.of(System.getenv("FLOTILLA_RENDEZVOUS_FILE"));
    return new World(rank, size, rank, size, 0, 1, new Rendezvous.SharedFile(file));
  }
}
