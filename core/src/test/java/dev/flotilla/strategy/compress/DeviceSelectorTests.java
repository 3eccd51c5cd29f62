package dev.flotilla.strategy.compress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Comparator;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a device would choose, in main memory. */
class DeviceSelectorTests {

  private static final int LENGTH = 3_000;

  private static long[] choose(double[] values, int k, float threshold) {
    try (var _ = TensorScope.open()) {
      var residual = Tensors.ofDoubles(values).to(torch.ScalarType.Float);
      try (var selector = new DeviceSelector(Selection.EXACT, residual, values.length)) {
        var chosen = selector.choose(k, TopKeys.key(threshold), null);
        return NativeView.of(chosen.contiguous()).toArray(ValueLayout.JAVA_LONG);
      }
    }
  }

  private static long[] largest(double[] values, int k) {
    return IntStream.range(0, values.length)
        .filter(index -> values[index] != 0)
        .boxed()
        .sorted(
            Comparator.<Integer>comparingDouble(index -> -Math.abs(values[index]))
                .thenComparing(Comparator.naturalOrder()))
        .limit(k)
        .mapToLong(Integer::longValue)
        .sorted()
        .toArray();
  }

  /** Few sizes, so that many are as large as the last one that is sent. */
  @ParameterizedTest
  @CsvSource({"1, 40", "10, 40", "499, 40", "700, 3", "2900, 3", "3000, 1", "200, 100000"})
  void exactSelectionSendsAllThatAreLargerThanTheLastAndTheFirstThatAreEqual(int k, int sizes) {
    var random = new SplittableRandom(k);
    var values = new double[LENGTH];
    Arrays.setAll(values, _ -> (random.nextInt(2 * sizes + 1) - sizes) / 64.0);
    for (float threshold : new float[] {0, 1 / 64f, sizes / 128f, Float.POSITIVE_INFINITY}) {
      assertThat(choose(values, k, threshold)).isEqualTo(largest(values, k));
    }
  }
}
