package dev.flotilla.zoo.table;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Which rows of a table are for training, and which for tests, both in the order of the file.
 *
 * <p>Rows are for tests whose random number, a function of seed and row, is among the smallest.
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared; made and read in this package only.
record Split(int[] training, int[] test) {

  static Split of(int rows, double fraction, long seed) {
    int count = (int) Math.round(rows * fraction);
    long bound = count == 0 ? 0 : smallest(rows, count, seed);
    var test = new int[count];
    var training = new int[rows - count];
    int tests = 0;
    var random = new SplittableRandom(seed);
    for (int row = 0; row < rows; row++) {
      boolean isTest = random.nextLong() <= bound && tests < count;
      if (isTest) {
        test[tests++] = row;
      } else {
        training[row - tests] = row;
      }
    }
    return new Split(training, test);
  }

  /** Returns the largest of the smallest numbers; no two rows draw the same one. */
  private static long smallest(int rows, int count, long seed) {
    var random = new SplittableRandom(seed);
    var drawn = new long[rows];
    Arrays.setAll(drawn, _ -> random.nextLong());
    Arrays.sort(drawn);
    return drawn[count - 1];
  }
}
