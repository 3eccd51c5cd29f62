package dev.flotilla.model;

import java.util.List;
import org.bytedeco.pytorch.Tensor;

/**
 * The last function of a part, with a custom backward that needs its inputs and not its outputs.
 * Where a recomputed span ends with such a part, recomputation leaves the function out.
 */
public interface FinalFunction {

  /** Maps what the part's body gives to what the part gives. */
  Activations apply(Activations body, ForwardMode mode);

  /**
   * Returns the gradients of its inputs, parameters included: to the bit those that backward
   * through {@link #apply} gives, each for a tensor of {@code body} or a parameter, in its shape
   * and dtype. No graph is recorded, nothing is converted to another dtype, and random numbers
   * start where they started for {@code apply}.
   *
   * @param body what the body gives, recomputed; nobody reads what the body has made itself again,
   *     so that its memory may be used
   * @param gradients of what comes out, undefined where none came
   */
  List<Gradient> backward(Activations body, List<Tensor> gradients);
}
