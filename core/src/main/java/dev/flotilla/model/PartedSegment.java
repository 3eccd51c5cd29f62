package dev.flotilla.model;

import java.util.List;

/** A segment that says what its parts are, and runs them one after the other. */
public interface PartedSegment extends Segment {

  @Override
  default Forward bind(Weights weights) {
    return Part.inOrder(bindParts(weights));
  }

  @Override
  List<Part> bindParts(Weights weights);
}
