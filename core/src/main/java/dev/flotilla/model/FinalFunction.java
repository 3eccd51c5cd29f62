package dev.flotilla.model;

import java.util.List;
import org.bytedeco.pytorch.Tensor;

/**
 * The last step of a part, where backward needs what goes into it and not what comes out. Where a
 * recomputed stretch ends with such a part, the replay leaves the step out.
 */
public interface FinalFunction {

  /** Maps what the part's body gives to what the part gives. */
  Activations apply(Activations body, ForwardMode mode);

  /**
   * Returns the gradients of what goes in, parameters included: to the bit those that backward
   * through {@link #apply} gives, each for a tensor of {@code body} or a parameter, in its shape
   * and type. No graph is recorded, nothing is converted to another number type, and random numbers
   * start where they started for {@code apply}.
   *
   * @param body what the body gave in a replay
   * @param gradients of what comes out, undefined where none came
   */
  List<Gradient> backward(Activations body, List<Tensor> gradients);
}
