package dev.flotilla.collective;

import dev.flotilla.world.World;

/** Makes the collectives of a process from its place in the world. */
public final class Collectives {

  private Collectives() {}

  /**
   * Meets the other ranks and connects with them. A world with a shared file opens nothing beyond
   * the loopback interface.
   *
   * @throws RendezvousException if a rank, the master or the way to it is missing, within the join
   *     timeout
   */
  public static Collective join(World world, CollectiveSettings settings) {
    return world.isSolo()
        ? new SoloCollective()
        : new HostStaging(GlooWorld.join(world, settings, System.getenv()));
  }
}
