package dev.flotilla.state;

import org.bytedeco.pytorch.Tensor;

/** Named values that are being saved or restored. */
public interface State {

  /** Saves the elements of a dense tensor, or overwrites them with the saved ones. */
  void tensor(String name, Tensor live);

  /**
   * Saves elements of a long tensor that several slices make up, or overwrites them with the saved
   * ones, however these were cut.
   *
   * @param name of the long tensor
   * @param offset number of the slice's first element in the whole
   * @param live the slice, flat; may be empty, which says that the whole is known here
   */
  default void slice(String name, long offset, Tensor live) {
    tensor(name + "@" + offset, live);
  }

  /** Saves a number and returns it, or returns the saved one. */
  long number(String name, long value);

  /** Saves a number and returns it, or returns the saved one, to the bit. */
  double real(String name, double value);

  /** Saves a text and returns it, or returns the saved one. */
  String text(String name, String value);

  /**
   * Tells whether a number, text or tensor can be taken up; always, while saving. What earlier
   * versions did not save must be asked for so.
   */
  default boolean has(String name) {
    return true;
  }

  /** Says that what was saved in a part may be left alone, if nobody asks for it. */
  default void mayLeave(String part) {}

  /** Returns a part whose names cannot meet those of other parts. */
  default State part(String prefix) {
    return new StatePart(this, prefix);
  }
}
