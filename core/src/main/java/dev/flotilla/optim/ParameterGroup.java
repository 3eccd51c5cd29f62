package dev.flotilla.optim;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.StateMemory;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.bytedeco.pytorch.Tensor;

/**
 * Parameters that share settings, as slices of the arenas.
 *
 * @param slices contiguous parts, in arena order
 * @param parameters where each of them lies in the arena, the same on all ranks; slices may join
 *     neighbours, and hold no more than parts of a parameter where ranks share it
 * @param values what they have of their own
 * @param memory where the rule keeps what it remembers for them
 * @param isFrozen tells whether they stay as they are in the next update
 */
public record ParameterGroup(
    List<Slice> slices,
    List<Extent> parameters,
    GroupValues values,
    StateMemory memory,
    BooleanSupplier isFrozen) {

  /**
   * Where a parameter lies in the arena.
   *
   * @param offset number of its first element
   * @param length its elements
   */
  public record Extent(long offset, long length) {}

  /**
   * A contiguous part of the arenas.
   *
   * @param parameter values, flat
   * @param gradient gradients of the same elements, flat
   * @param offset number of its first element in the arena
   */
  public record Slice(Tensor parameter, Tensor gradient, long offset) {}

  /** Copies the lists. */
  public ParameterGroup {
    slices = List.copyOf(slices);
    parameters = List.copyOf(parameters);
  }

  /** Groups slices of parameters that are never frozen. */
  public ParameterGroup(
      List<Slice> slices, List<Extent> parameters, GroupValues values, StateMemory memory) {
    this(slices, parameters, values, memory, () -> false);
  }

  /** Groups slices, each a parameter of its own, whose rule keeps its memory beside them. */
  public ParameterGroup(List<Slice> slices, double weightDecay) {
    this(
        slices,
        slices.stream().map(it -> new Extent(it.offset(), it.parameter().numel())).toList(),
        GroupValues.ofWeightDecay(weightDecay),
        StateMemory.on(deviceOf(slices)));
  }

  /** Returns the decay λ of this group. */
  public double weightDecay() {
    return values.weightDecay();
  }

  /** Returns the rate of this group where the optimizer's is such. */
  public double lr(double ofOptimizer) {
    return ofOptimizer * values.lrFactor();
  }

  private static ComputeDevice deviceOf(List<Slice> slices) {
    return slices.isEmpty() ? ComputeDevice.CPU : ComputeDevice.of(slices.getFirst().parameter());
  }
}
