package dev.flotilla.strategy.powersgd;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.DoubleSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Vectors are orthonormal whatever they were, and span what they spanned. */
class HouseholderTests {

  private static final int LENGTH = 40;

  private static DoubleSupplier numbers(long seed) {
    var random = new SplittableRandom(seed);
    return () -> random.nextDouble(-1, 1);
  }

  private static double[] random(int count, int length) {
    var numbers = numbers(5);
    var values = new double[count * length];
    Arrays.setAll(values, _ -> numbers.getAsDouble());
    return values;
  }

  private static double[] orthonormal(double[] values, int count, int length) {
    var copy = values.clone();
    Householder.orthonormalise(copy, 0, count, length, numbers(9));
    return copy;
  }

  private static double product(double[] a, int i, double[] b, int j, int length) {
    double sum = 0;
    for (int k = 0; k < length; k++) {
      sum += a[i * length + k] * b[j * length + k];
    }
    return sum;
  }

  private static double fromOrthonormal(double[] vectors, int count, int length) {
    double worst = 0;
    for (int i = 0; i < count; i++) {
      for (int j = 0; j < count; j++) {
        double expected = i == j ? 1 : 0;
        worst = Math.max(worst, Math.abs(product(vectors, i, vectors, j, length) - expected));
      }
    }
    return worst;
  }

  /** Returns what the orthonormal vectors leave of others, of the largest norm. */
  private static double left(double[] vectors, double[] orthonormal, int count, int length) {
    double worst = 0;
    double largest = 0;
    for (int i = 0; i < count; i++) {
      double square = product(vectors, i, vectors, i, length);
      double inside = 0;
      for (int j = 0; j < count; j++) {
        inside += Math.pow(product(vectors, i, orthonormal, j, length), 2);
      }
      worst = Math.max(worst, Math.abs(square - inside));
      largest = Math.max(largest, square);
    }
    return largest == 0 ? 0 : worst / largest;
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "1, 7", "2, 40", "7, 40", "40, 40"})
  void independentVectors(int count, int length) {
    var values = random(count, length);
    var orthonormal = orthonormal(values, count, length);
    assertThat(fromOrthonormal(orthonormal, count, length)).isLessThan(1e-13);
    assertThat(left(values, orthonormal, count, length)).isLessThan(1e-13);
  }

  @ParameterizedTest
  @CsvSource({"0", "1", "3"})
  void dependentVectors(int independent) {
    int count = 6;
    var values = random(count, LENGTH);
    for (int i = independent; i < count; i++) {
      for (int k = 0; k < LENGTH; k++) {
        int at = i * LENGTH + k;
        values[at] = independent == 0 ? 0 : (i + 1) * values[i % independent * LENGTH + k];
      }
    }
    var orthonormal = orthonormal(values, count, LENGTH);
    assertThat(fromOrthonormal(orthonormal, count, LENGTH)).isLessThan(1e-13);
    assertThat(left(values, orthonormal, count, LENGTH)).isLessThan(1e-13);
  }

  /** The last differ from the first by rounding of float32, where Gram-Schmidt goes astray. */
  @Test
  void nearlyDependentVectorsOfAnySize() {
    for (double size : new double[] {1e-30, 1, 1e30}) {
      var values = random(4, LENGTH);
      for (int k = 0; k < LENGTH; k++) {
        values[k] *= size;
        for (int i = 1; i < 4; i++) {
          values[i * LENGTH + k] = values[k] * (1 + 6e-8 * values[i * LENGTH + k]);
        }
      }
      var orthonormal = orthonormal(values, 4, LENGTH);
      assertThat(fromOrthonormal(orthonormal, 4, LENGTH)).isLessThan(1e-13);
    }
  }

  @Test
  void whatLiesAroundThemStays() {
    var values = random(4, LENGTH);
    var changed = values.clone();
    Householder.orthonormalise(changed, LENGTH, 2, LENGTH, numbers(9));
    assertThat(Arrays.copyOf(changed, LENGTH)).isEqualTo(Arrays.copyOf(values, LENGTH));
    assertThat(Arrays.copyOfRange(changed, 3 * LENGTH, 4 * LENGTH))
        .isEqualTo(Arrays.copyOfRange(values, 3 * LENGTH, 4 * LENGTH));
  }
}
