package dev.flotilla.collective;

import dev.flotilla.memory.ComputeDevice;
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
    return join(world, settings, ComputeDevice.CPU);
  }

  /**
   * Meets the other ranks and connects with them, and their GPUs by NCCL if each rank has one of
   * its own.
   *
   * @param device where this rank computes
   * @throws RendezvousException if a rank, the master or the way to it is missing, within the join
   *     timeout
   */
  public static Collective join(World world, CollectiveSettings settings, ComputeDevice device) {
    return world.isSolo() && settings.backend() != GpuBackend.NCCL
        ? new SoloCollective()
        : GlooWorld.join(world, settings, System.getenv(), device);
  }
}
