package dev.flotilla.strategy.recompute;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.DeviceMemory;
import dev.flotilla.memory.ProcessMemory;

/** How much memory there is for activations when the user does not say. */
final class FreeMemory {

  private static final double SHARE = 0.8;

  private FreeMemory() {}

  /** Returns this rank's share of what is free, less a margin for everything else. */
  static long forActivations(ComputeDevice device, int ranksOnHost) {
    long free =
        device.isCuda()
            ? new DeviceMemory(device).freeBytes()
            : ProcessMemory.availableBytes() / ranksOnHost;
    return (long) (SHARE * free);
  }
}
