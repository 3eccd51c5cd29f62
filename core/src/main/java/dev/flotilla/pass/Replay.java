package dev.flotilla.pass;

import dev.flotilla.model.Activations;
import java.util.List;

/**
 * What a recomputed span has come to in backward.
 *
 * @param cuts where a core was left out, in order
 * @param outputs what the span gives up to its ending
 */
record Replay(List<Cut> cuts, Activations outputs) {

  /**
   * A core that was left out: the graph ends with its input, and another one starts from its
   * outputs.
   *
   * @param part number of the part
   * @param input what went into the core
   * @param outputs what it gave, as leaves that collect gradients
   */
  record Cut(int part, Activations input, Activations outputs) {}
}
