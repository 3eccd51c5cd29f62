package dev.flotilla.arena;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.model.ParameterSpec;

/**
 * The place of a parameter in an arena.
 *
 * @param spec the parameter
 * @param offset first element
 */
public record Slot(ParameterSpec spec, long offset) {

  /** Returns where it lies, without the gap behind it. */
  public Range range() {
    return new Range(offset, length());
  }

  /** Returns the number of elements. */
  public long length() {
    return spec.shape().elements();
  }
}
