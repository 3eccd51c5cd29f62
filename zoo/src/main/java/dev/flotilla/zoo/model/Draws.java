package dev.flotilla.zoo.model;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.GraphRecorder;
import dev.flotilla.memory.TensorScope;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.bytedeco.pytorch.Tensor;

/**
 * What dropout keeps on a GPU: a function of a seed and the place of a number, so one seed serves
 * one sum; a part of a model draws its seed anew before it runs.
 *
 * @param seed of the device's generator
 * @param address where the seed lies on the device, in a pass that is recorded; null otherwise
 * @param probability of dropping, 0 in evaluation
 */
record Draws(long seed, MemorySegment address, double probability) {

  static final Draws NONE = new Draws(0, MemorySegment.NULL, 0);

  private static final double DIFFERENT = 0x1p32;

  /** Returns what a sum on the device of a tensor would be drawn from now. */
  static Draws now(Tensor tensor, double probability) {
    if (probability == 0) {
      return NONE;
    }
    return GraphRecorder.seedHere()
        .map(address -> new Draws(0, address, probability))
        .orElseGet(() -> new Draws(seed(tensor), MemorySegment.NULL, probability));
  }

  private static long seed(Tensor tensor) {
    try (var _ = TensorScope.open()) {
      return ComputeDevice.of(tensor).generator().current_seed();
    }
  }

  /** Returns what kernels take. */
  List<Object> arguments() {
    long dropped = Math.min(Math.round(probability * DIFFERENT), (long) DIFFERENT - 1);
    return List.of(seed, address, (int) dropped, (float) (1 / (1 - dropped / DIFFERENT)));
  }
}
