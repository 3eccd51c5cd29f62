package dev.flotilla.model;

import java.util.List;

/** A part of a model's chain, described as data until it is bound to weights. */
public interface Segment {

  /** Returns the name that recipes and reports use. */
  String name();

  /** Returns the parameters this segment uses, in a fixed order. */
  List<ParameterSpec> parameters();

  /** Returns the buffers this segment uses, in a fixed order. */
  default List<BufferSpec> buffers() {
    return List.of();
  }

  /** Fetches the handles it needs, once, and returns the function that runs forward. */
  Forward bind(Weights weights);

  /**
   * Fetches the handles and returns the parts that this segment consists of, in forward order; by
   * default it is one. {@link #bind} does all of them at once.
   */
  default List<Part> bindParts(Weights weights) {
    return List.of(new Part(name(), bind(weights)));
  }

  /** A bound segment. */
  @FunctionalInterface
  interface Forward {

    /** Maps activations to activations; intermediates die with the caller's scope. */
    Activations apply(Activations input, ForwardMode mode);
  }
}
