package dev.flotilla.arena;

import dev.flotilla.model.ParameterSpec;

/**
 * The place of a parameter in an arena.
 *
 * @param spec the parameter
 * @param offset first element
 */
public record Slot(ParameterSpec spec, long offset) {

  /** Returns the number of elements. */
  public long length() {
    return spec.shape().elements();
  }
}
