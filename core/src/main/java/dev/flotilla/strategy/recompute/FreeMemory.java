package dev.flotilla.strategy.recompute;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.DeviceMemory;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.ProcessMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.UUID;

/** How much memory there is for activations when the user does not say. */
final class FreeMemory {

  private static final double SHARE = 0.8;

  private FreeMemory() {}

  /**
   * Returns this rank's part of what is free, less a margin for everything else; all ranks call it
   * together.
   */
  static long forActivations(ComputeDevice device, int ranksOnHost, Collective all) {
    long onDevice = sharing(device.uniqueName(), all);
    long free =
        device.isCuda()
            ? new DeviceMemory(device).freeBytes() / onDevice
            : ProcessMemory.availableBytes() / ranksOnHost;
    return (long) (SHARE * free);
  }

  /** Returns how many ranks name the same place as this one. */
  static long sharing(String place, Collective all) {
    try (var _ = TensorScope.open()) {
      long own = UUID.nameUUIDFromBytes(place.getBytes(UTF_8)).getMostSignificantBits();
      var places = Tensors.ofLongs(new long[all.size()]);
      all.allGather(places, Tensors.ofLongs(own), Traffic.START).await();
      long[] found = NativeView.of(places).toArray(ValueLayout.JAVA_LONG);
      return Arrays.stream(found).filter(name -> name == own).count();
    }
  }
}
