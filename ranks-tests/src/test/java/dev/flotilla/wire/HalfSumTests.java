package dev.flotilla.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.RecordingCollective;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HalfSumTests {

  private static final int LONG = (int) HalfSum.CHUNK * 2 + 77;

  private static float[] numbers(int rank, int length, double scale) {
    var random = new SplittableRandom(rank);
    var numbers = new float[length];
    for (int i = 0; i < length; i++) {
      numbers[i] = (float) (random.nextGaussian() * scale);
    }
    return numbers;
  }

  /** Sums what each rank has, and returns what rank 0 and the last rank end with. */
  private static float[][] summed(int ranks, Dtype wire, NumbersOf numbersOf) {
    return Ranks.call(ranks, collective -> sum(collective, wire, numbersOf.of(collective.rank())))
        .toArray(float[][]::new);
  }

  private static float[] sum(Collective collective, Dtype wire, float[] numbers) {
    try (var _ = TensorScope.open();
        var sum = new HalfSum(collective, wire, numbers.length)) {
      var tensor = tensor(numbers);
      sum.sum(tensor, Traffic.EXCHANGE);
      return array(tensor);
    }
  }

  private static Tensor tensor(float[] numbers) {
    var tensor = dev.flotilla.memory.Tensors.zeros(torch.ScalarType.Float, numbers.length);
    var memory = NativeView.of(tensor);
    for (int i = 0; i < numbers.length; i++) {
      memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, numbers[i]);
    }
    return tensor;
  }

  private static float[] array(Tensor tensor) {
    return NativeView.of(tensor).toArray(ValueLayout.JAVA_FLOAT);
  }

  private interface NumbersOf {
    float[] of(int rank);
  }

  @ParameterizedTest
  @CsvSource({
    "1, BF16, 10",
    "2, BF16, 1",
    "2, FP16, 7",
    "3, BF16, 1000",
    "3, FP16, 5",
    "4, FP16, 4097"
  })
  void allRanksEndWithTheSameBitsCloseToTheSum(int ranks, Dtype wire, int length) {
    checkSum(ranks, wire, length);
  }

  /** The lengths of chunks do not depend on what is in them. */
  @Test
  void sumsInSeveralChunks() {
    checkSum(2, Dtype.BF16, LONG);
  }

  private static void checkSum(int ranks, Dtype wire, int length) {
    var results = summed(ranks, wire, rank -> numbers(rank, length, 0.01));

    double precision = wire == Dtype.BF16 ? 1.0 / 256 : 1.0 / 2048;
    var parts = new float[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      parts[rank] = numbers(rank, length, 0.01);
    }
    double worst = 0;
    for (int i = 0; i < length; i++) {
      double exact = 0;
      double size = 1e-7;
      for (var part : parts) {
        exact += part[i];
        size += Math.abs(part[i]);
      }
      worst = Math.max(worst, Math.abs(results[0][i] - exact) / size);
    }
    assertThat(worst).isLessThan(2 * precision);
    for (var result : results) {
      assertThat(result).isEqualTo(results[0]);
    }
  }

  @Test
  void addsInFloat32() {
    // Added as halves, 2048 + 1 is 2048.
    var results = summed(3, Dtype.FP16, rank -> new float[] {rank == 0 ? 2048 : 1, 0, 0});

    assertThat(results[0][0]).isEqualTo(2050);
  }

  @ParameterizedTest
  @CsvSource({"1e30", "1e-30", "3e38"})
  void scalesSoThatFp16NeitherOverflowsNorVanishes(float size) {
    var results = summed(2, Dtype.FP16, rank -> new float[] {rank == 0 ? size : 0, size / 1024, 0});

    assertThat(results[1][0]).isCloseTo(size, within(size / 1000));
    assertThat(results[1][1]).isCloseTo(size / 512, within(size / 500_000));
  }

  @Test
  void passesOnWhatIsNotFinite() {
    var results = summed(2, Dtype.FP16, rank -> new float[] {rank == 1 ? Float.NaN : 1, 2, 3, 4});

    assertThat(results[0][0]).isNaN();
    assertThat(results[1][0]).isNaN();
  }

  @Test
  void sendsHalfTheBytesOfAnAllReduce() {
    var sent =
        Ranks.call(
            3,
            collective -> {
              var recording = new RecordingCollective(collective);
              sum(recording, Dtype.BF16, numbers(collective.rank(), 30_000, 1));
              return collective.count(Traffic.EXCHANGE).bytesSent();
            });

    // 2 (n - 1) / n of 30,000 numbers of 2 bytes.
    assertThat(sent).containsOnly(80_000L);
  }
}
