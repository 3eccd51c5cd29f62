package dev.flotilla.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LeastSquaresTests {

  private static double[] vector(int seed, int length) {
    return new SplittableRandom(seed).doubles(length).toArray();
  }

  private static double[] combination(List<double[]> columns, double... coefficients) {
    var sum = new double[columns.getFirst().length];
    for (int i = 0; i < coefficients.length; i++) {
      for (int j = 0; j < sum.length; j++) {
        sum[j] += coefficients[i] * columns.get(i)[j];
      }
    }
    return sum;
  }

  @Test
  void findsTheCoefficientsOfASum() {
    var columns = IntStream.range(0, 5).mapToObj(i -> vector(i, 50)).toList();
    var target = combination(columns, 0.25, 0, 1, -2, 1e-3);
    assertThat(LeastSquares.of(target, columns).orElseThrow())
        .containsExactly(new double[] {0.25, 0, 1, -2, 1e-3}, within(1e-11));
  }

  @Test
  void findsCoefficientsOfNearlyParallelVectors() {
    var base = vector(1, 50);
    var near = combination(List.of(base, vector(2, 50)), 1, 1e-5);
    var target = combination(List.of(base, near), 3, 4);
    assertThat(LeastSquares.of(target, List.of(base, near)).orElseThrow())
        .containsExactly(new double[] {3, 4}, within(1e-7));
  }

  @Test
  void saysNothingAboutDependentVectorsOrWhatTheyDoNotExplain() {
    var one = vector(1, 50);
    var twice = combination(List.of(one), 2);
    assertThat(LeastSquares.of(one, List.of(one, twice))).isEmpty();
    assertThat(LeastSquares.of(vector(3, 50), List.of(one))).isEmpty();
    assertThat(LeastSquares.of(one, List.of(one, new double[50]))).isEmpty();
  }
}
