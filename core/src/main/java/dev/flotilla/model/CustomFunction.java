package dev.flotilla.model;

import java.util.List;
import org.bytedeco.pytorch.Tensor;

/**
 * A function with a custom backward, as an alternative to a part's body where the part is
 * recomputed: its outputs are saved, and backward asks it for the gradients, so that recomputation
 * leaves the part out. Worth it where a part takes long and its outputs are small, as in attention.
 */
public interface CustomFunction {

  /**
   * What forward returns.
   *
   * @param outputs what the part gives; what only passes through is the same handle as in its input
   * @param saved the tensors that backward needs beside the input, the outputs that the part has
   *     made included
   */
  record Result(Activations outputs, List<Tensor> saved) {

    /** Copies the list. */
    public Result {
      saved = List.copyOf(saved);
    }
  }

  /**
   * Tells whether it can take an input; if not, the part's body runs, and is recomputed in
   * backward.
   */
  boolean suits(Activations input, ForwardMode mode);

  /** Returns, to the bit, what the part's body returns, without recording a graph. */
  Result forward(Activations input, ForwardMode mode);

  /**
   * Returns the outputs of forward from its saved tensors.
   *
   * @param input what went in, recomputed
   */
  Activations outputs(Activations input, List<Tensor> saved);

  /**
   * Returns the gradients of the input, to the bit those that backward through the part's body
   * gives, each in the shape and dtype of its tensor.
   *
   * @param input what went in, recomputed
   * @param gradients of what came out, undefined where none came
   */
  List<Gradient> backward(Activations input, List<Tensor> saved, List<Tensor> gradients);
}
