package dev.flotilla.strategy.compress;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class TopKeysTests {

  @Test
  void theKthLargestIsTheOneThatSortingFinds() {
    var random = new SplittableRandom(1);
    for (int round = 0; round < 500; round++) {
      int count = 1 + random.nextInt(300);
      int range = 1 + random.nextInt(1 + random.nextInt(1000));
      int[] keys = random.ints(count, 0, range).toArray();
      int[] sorted = keys.clone();
      Arrays.sort(sorted);
      int k = 1 + random.nextInt(count);
      assertThat(TopKeys.kthLargest(keys, count, k)).isEqualTo(sorted[count - k]);
    }
  }

  @Test
  void keysAreOrderedAsSizes() {
    float[] sizes = {0, Float.MIN_VALUE, 1e-20f, 1, 1.0000001f, 3e38f, Float.POSITIVE_INFINITY};
    for (int i = 1; i < sizes.length; i++) {
      assertThat(TopKeys.key(-sizes[i])).isGreaterThan(TopKeys.key(sizes[i - 1]));
    }
  }
}
