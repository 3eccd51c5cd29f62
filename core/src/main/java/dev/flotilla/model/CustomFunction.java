package dev.flotilla.model;

import java.util.List;
import org.bytedeco.pytorch.Tensor;

/**
 * Another way to run a part, where the stretch around it is recomputed: what it gives is kept, and
 * backward asks the part itself for its gradients, so that a replay leaves it out. Worth it where a
 * part takes long and gives little, as attention does.
 */
public interface CustomFunction {

  /**
   * What a run gives.
   *
   * @param outputs what the part gives; what only passes through is the same handle as in its input
   * @param kept what backward needs beside the input, the outputs that the part has made included
   */
  record Run(Activations outputs, List<Tensor> kept) {

    /** Copies the list. */
    public Run {
      kept = List.copyOf(kept);
    }
  }

  /**
   * Tells whether it can take an input; if not, the part's body runs, and runs again in backward.
   */
  boolean suits(Activations input, ForwardMode mode);

  /** Runs to the bit as the part's body does, without a graph. */
  Run run(Activations input, ForwardMode mode);

  /** Returns the outputs again, given the input of a replay. */
  Activations again(Activations input, List<Tensor> kept);

  /**
   * Returns the gradients of the input, to the bit those that backward through the part's body
   * gives, each in the shape and type of its tensor.
   *
   * @param input what went in, from a replay
   * @param gradients of what came out, undefined where none came
   */
  List<Gradient> backward(Activations input, List<Tensor> kept, List<Tensor> gradients);
}
