package dev.flotilla.testkit;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Cases of a test that differ in settings alone: all in a thorough build, some in any other. */
public final class Matrix {

  private static final boolean IS_WHOLE = Boolean.getBoolean("flotilla.test.matrices");

  private Matrix() {}

  static boolean isWhole() {
    return IS_WHOLE;
  }

  /**
   * Returns so many cases, the first, the last and others evenly between; in a thorough build all.
   */
  public static <T> Stream<T> some(int number, Stream<T> cases) {
    var all = cases.toList();
    return IS_WHOLE ? all.stream() : spread(number, all);
  }

  static <T> Stream<T> spread(int number, List<T> all) {
    if (number < 2 || number > all.size()) {
      throw new IllegalArgumentException(
          "between 2 and all %d cases, but was %d".formatted(all.size(), number));
    }
    return IntStream.range(0, number).mapToObj(i -> all.get(i * (all.size() - 1) / (number - 1)));
  }
}
