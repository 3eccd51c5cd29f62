package dev.flotilla.pass;

import dev.flotilla.arena.Section;
import java.util.List;
import java.util.function.Consumer;

/**
 * Sees to it that the parameters of a segment are there when it runs. By default they always are.
 */
public interface ParameterGate {

  /** Parameters are always there. */
  ParameterGate OPEN = _ -> {};

  /** Hears that a forward pass begins, before anything else of it. */
  default void beginForward() {}

  /** Waits until the parameters of a segment are there; called before each of its parts runs. */
  void enter(int segment);

  /** Waits until the parameters of some segments are there, before backward goes through them. */
  default void enterBackward(int first, int last) {}

  /** Tells whether backward must pause before every segment, so that its parameters can come. */
  default boolean pausesBetweenSegments() {
    return false;
  }

  /** Takes part in what other ranks do during forward and backward, on a rank without a batch. */
  default void passWithoutBatch() {}

  /** Takes part in what other ranks do during an evaluating forward pass, without a batch. */
  default void forwardWithoutBatch() {}

  /**
   * Runs forward passes of this rank alone, to see what they cost: parameters have their sizes, and
   * perhaps not their values.
   */
  default void whileAlone(Runnable passes) {
    passes.run();
  }

  /** Waits for parameters that are under way. */
  default void settle() {}

  /**
   * Makes sure that all parameters are there, on this rank alone.
   *
   * @throws IllegalStateException if some are not
   */
  default void requireAll() {
    settle();
  }

  /**
   * Waits until the parameters of one section are there; those of the one before may go. All ranks
   * call it together.
   */
  default void enterSection(Section section) {
    settle();
  }

  /** Ends what {@link #enterSection} has begun. */
  default void leaveSection() {}

  /** Tells whether all parameters are there, on this rank alone. */
  default boolean hasAll() {
    return true;
  }

  /**
   * Hands every section to an action while its parameters are there; all ranks call it together.
   *
   * @param changes whether the action changes them
   */
  default void forEachSection(List<Section> sections, boolean changes, Consumer<Section> action) {
    settle();
    sections.forEach(action);
  }
}
