package dev.flotilla.optim;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.StateMemory;
import java.util.List;
import org.bytedeco.pytorch.Tensor;

/**
 * Parameters that share settings, as slices of the arenas.
 *
 * @param slices contiguous parts, in arena order
 * @param weightDecay decay λ for this group
 * @param memory where the rule keeps what it remembers for them
 */
public record ParameterGroup(List<Slice> slices, double weightDecay, StateMemory memory) {

  /**
   * A contiguous part of the arenas.
   *
   * @param parameter values, flat
   * @param gradient gradients of the same elements, flat
   * @param offset number of its first element in the arena
   */
  public record Slice(Tensor parameter, Tensor gradient, long offset) {}

  /** Copies the list. */
  public ParameterGroup {
    slices = List.copyOf(slices);
  }

  /** Groups slices whose rule keeps its memory beside them. */
  public ParameterGroup(List<Slice> slices, double weightDecay) {
    this(slices, weightDecay, StateMemory.on(deviceOf(slices)));
  }

  private static ComputeDevice deviceOf(List<Slice> slices) {
    return slices.isEmpty() ? ComputeDevice.CPU : ComputeDevice.of(slices.getFirst().parameter());
  }
}
