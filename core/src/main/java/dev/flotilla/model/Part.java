package dev.flotilla.model;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A stretch of a segment: the smallest piece that recompute can leave out, and the place where
 * BatchNorm's statistics can be pooled.
 *
 * @param name the segment's name, with what this part of it does after a slash
 * @param pooled BatchNorms that this part starts with, each over one tensor of the input
 * @param body its function, up to the ending where there is one
 * @param ending its last step, if a replay can do without it
 * @param core another way to run it, if a replay can do without all of it
 */
public record Part(
    String name,
    List<Pooled> pooled,
    Segment.Forward body,
    @Nullable FinalFunction ending,
    @Nullable CustomFunction core) {

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

  /** Creates a part that starts with BatchNorms and that a replay runs to its end. */
  public Part(String name, List<Pooled> pooled, Segment.Forward forward) {
    this(name, pooled, forward, null, null);
  }

  /** Creates a part without BatchNorm at its start, which a replay runs to its end. */
  public Part(String name, Segment.Forward forward) {
    this(name, List.of(), forward, null, null);
  }

  /** Creates a part of which a replay can leave out the last step. */
  public Part(String name, Segment.Forward body, FinalFunction ending) {
    this(name, List.of(), body, ending, null);
  }

  /** Creates a part that a replay can leave out, if what it gives is kept. */
  public Part(String name, Segment.Forward forward, CustomFunction core) {
    this(name, List.of(), forward, null, core);
  }

  /** Returns its whole function. */
  public Segment.Forward forward() {
    var last = ending;
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
