package dev.flotilla.model;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A piece of a segment: the smallest one that can be recomputed, and the place where BatchNorm's
 * statistics can be pooled.
 *
 * @param name the segment's name, with what this part of it does after a slash
 * @param pooled BatchNorms that this part starts with, each over one tensor of the input
 * @param body its function, up to the final function where there is one
 * @param finalFunction its last function, if recomputation can do without it
 * @param customFunction an alternative with a custom backward, if recomputation can do without all
 *     of it
 */
public record Part(
    String name,
    List<Pooled> pooled,
    Segment.Forward body,
    @Nullable FinalFunction finalFunction,
    @Nullable CustomFunction customFunction) {

  /**
   * A BatchNorm at the start of a part.
   *
   * @param input which tensor of the input it normalises
   * @param statistics where it takes mean and variance from
   */
  public record Pooled(int input, BatchStatistics statistics) {}

  /** Copies the list. */
  public Part {
    pooled = List.copyOf(pooled);
  }

  /** Creates a part that starts with BatchNorms and that is recomputed to its end. */
  public Part(String name, List<Pooled> pooled, Segment.Forward forward) {
    this(name, pooled, forward, null, null);
  }

  /** Creates a part without BatchNorm at its start, which is recomputed to its end. */
  public Part(String name, Segment.Forward forward) {
    this(name, List.of(), forward, null, null);
  }

  /** Creates a part of which recomputation can leave out the last function. */
  public Part(String name, Segment.Forward body, FinalFunction finalFunction) {
    this(name, List.of(), body, finalFunction, null);
  }

  /** Creates a part that recomputation can leave out, if its outputs are saved. */
  public Part(String name, Segment.Forward forward, CustomFunction customFunction) {
    this(name, List.of(), forward, null, customFunction);
  }

  /** Returns its whole function. */
  public Segment.Forward forward() {
    var last = finalFunction;
    return last == null ? body : (input, mode) -> last.apply(body.apply(input, mode), mode);
  }

  /** Returns one function that runs parts one after the other. */
  public static Segment.Forward inOrder(List<Part> parts) {
    return (input, mode) -> {
      Activations value = input;
      for (var part : parts) {
        value = part.forward().apply(value, mode);
      }
      return value;
    };
  }
}
