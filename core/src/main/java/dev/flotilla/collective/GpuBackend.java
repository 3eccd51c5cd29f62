package dev.flotilla.collective;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.world.RankEnvironment;
import java.util.Map;

/** What carries tensors that lie on GPUs; those in main memory always go by Gloo. */
public enum GpuBackend {
  /** NCCL where every rank has a GPU of its own, or else Gloo. */
  AUTO,
  /** Gloo, through main memory. */
  GLOO,
  /** NCCL, also for a rank that is alone. */
  NCCL;

  /**
   * Reads what a launcher, or a user, has asked for.
   *
   * @throws ConfigException if there is no such backend
   */
  public static GpuBackend in(Map<String, String> environment) {
    var text = environment.getOrDefault(RankEnvironment.BACKEND, "");
    return switch (text) {
      case "", "auto" -> AUTO;
      case "gloo" -> GLOO;
      case "nccl" -> NCCL;
      default ->
          throw new ConfigException(
              RankEnvironment.BACKEND, "must be auto, gloo or nccl, but was '" + text + "'");
    };
  }

  /** Returns the name of the GPU that a rank offers to NCCL; the empty text for none. */
  String offer(ComputeDevice device) {
    if (this == NCCL && !device.isCuda()) {
      throw new ConfigException(
          "--backend",
          "nccl needs device: cuda on every rank, but this one computes on cpu; leave it out, or"
              + " use gloo");
    }
    return this == GLOO ? "" : device.uniqueName();
  }

  /**
   * Decides for a group, the same on all of its ranks.
   *
   * @throws RendezvousException if NCCL was asked for and cannot be had
   */
  boolean isNcclFor(Roster roster) {
    var obstacle = roster.obstacleToNccl();
    if (this == NCCL && !obstacle.isEmpty()) {
      throw new RendezvousException(
          "--backend nccl needs a GPU of its own for each rank, but %s; use auto or gloo"
              .formatted(obstacle));
    }
    return obstacle.isEmpty();
  }
}
