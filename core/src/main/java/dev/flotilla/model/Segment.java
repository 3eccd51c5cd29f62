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

  /** A bound segment. */
  @FunctionalInterface
  interface Forward {

    /** Maps activations to activations; intermediates die with the caller's scope. */
    Activations apply(Activations input, ForwardMode mode);
  }
}
