package dev.flotilla.model;

import java.util.List;

/**
 * A stretch of a segment: the smallest piece that recompute can leave out, and the place where
 * BatchNorm's statistics can be pooled.
 *
 * @param name the segment's name, with what this part of it does after a slash
 * @param pooled BatchNorms that this part starts with, each over one tensor of the input
 * @param forward its function
 */
public record Part(String name, List<Pooled> pooled, Segment.Forward forward) {

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

  /** Creates a part without BatchNorm at its start. */
  public Part(String name, Segment.Forward forward) {
    this(name, List.of(), forward);
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
