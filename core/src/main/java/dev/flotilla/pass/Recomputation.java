package dev.flotilla.pass;

import dev.flotilla.model.Activations;
import java.util.List;

/**
 * What a recomputed span has come to in backward.
 *
 * @param cuts where a custom function was left out, in order
 * @param outputs what the span gives up to its final function
 */
record Recomputation(List<Cut> cuts, Activations outputs) {

  /**
   * A custom function that was left out: the graph ends with its input, and another one starts from
   * its outputs.
   *
   * @param part number of the part
   * @param input what went into it
   * @param outputs what it gave, as leaves that collect gradients
   */
  record Cut(int part, Activations input, Activations outputs) {}
}
