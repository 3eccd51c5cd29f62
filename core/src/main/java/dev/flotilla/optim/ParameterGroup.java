package dev.flotilla.optim;

import java.util.List;
import org.bytedeco.pytorch.Tensor;

/**
 * Parameters that share settings, as slices of the arenas.
 *
 * @param slices contiguous parts, in arena order
 * @param weightDecay decay λ for this group
 */
public record ParameterGroup(List<Slice> slices, double weightDecay) {

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

  List<Tensor> parameters() {
    return slices.stream().map(Slice::parameter).toList();
  }

  List<Tensor> gradients() {
    return slices.stream().map(Slice::gradient).toList();
  }
}
