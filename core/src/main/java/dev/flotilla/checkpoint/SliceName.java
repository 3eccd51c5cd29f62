package dev.flotilla.checkpoint;

import java.util.Optional;

/**
 * What a slice of a long tensor is called in a file, for example {@code
 * slices/optimizer/velocity/0@4096}.
 *
 * @param whole the long tensor, with what it is a slice of: {@value #EQUAL} or {@value #SUM}
 * @param offset number of the slice's first element in the whole
 */
record SliceName(String whole, long offset) {

  /** Begins the names of what is equal on all ranks that hold it. */
  static final String EQUAL = "slices/";

  /** Begins the names of what is added up over ranks. */
  static final String SUM = "sum-slices/";

  private static final char BEFORE_OFFSET = '@';

  /** Returns the slice that a name in a file means, if it means one. */
  static Optional<SliceName> parse(String name) {
    int at = name.lastIndexOf(BEFORE_OFFSET);
    if (at < 0 || !(name.startsWith(EQUAL) || name.startsWith(SUM))) {
      return Optional.empty();
    }
    try {
      long offset = Long.parseLong(name.substring(at + 1));
      return offset < 0
          ? Optional.empty()
          : Optional.of(new SliceName(name.substring(0, at), offset));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  /** Returns the name in a file. */
  @Override
  public String toString() {
    return whole + BEFORE_OFFSET + offset;
  }
}
