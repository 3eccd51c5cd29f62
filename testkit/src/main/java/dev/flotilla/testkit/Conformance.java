package dev.flotilla.testkit;

import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.merge.GradientMerge;
import java.util.List;
import java.util.stream.Stream;

/**
 * The table of techniques that claim to work; every row runs through every check of the conformance
 * tests. Joining the library means joining this table.
 */
public final class Conformance {

  /** What a technique promises about one rank's result, compared with the baseline. */
  public enum Promise {
    /** The same bits. */
    EXACT,
    /** The same but for rounding. */
    ROUNDING,
    /** Another algorithm, which learns as well. */
    ALGORITHMIC
  }

  /**
   * A technique, or a permitted combination.
   *
   * @param name what the test report shows
   * @param promise what one rank's result is compared with
   * @param techniques the settings
   */
  public record Row(String name, Promise promise, List<Strategy> techniques) {
    @Override
    public String toString() {
      return name;
    }
  }

  private Conformance() {}

  /** Returns all rows; the first is the baseline. */
  public static Stream<Row> rows() {
    return Stream.of(
        new Row("baseline", Promise.EXACT, List.of()),
        new Row("clip, never reached", Promise.EXACT, List.of(new ClipByNorm(1e9))),
        new Row("clip", Promise.ALGORITHMIC, List.of(new ClipByNorm(0.5))),
        new Row("gradient merge of 1", Promise.EXACT, List.of(new GradientMerge(1))),
        new Row("gradient merge of 3", Promise.ALGORITHMIC, List.of(new GradientMerge(3))),
        new Row(
            "gradient merge and clip",
            Promise.ALGORITHMIC,
            List.of(new GradientMerge(3), new ClipByNorm(0.5))));
  }
}
