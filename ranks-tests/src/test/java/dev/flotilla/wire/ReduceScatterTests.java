package dev.flotilla.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.RankSlices;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.testkit.Ranks;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Sums of slices in 16 bits, against what a reader of the documents works out by hand. */
class ReduceScatterTests {

  private static final RankSlices UNEVEN = RankSlices.of(48, 32, 5);

  private static float[] numbers(int rank, int length) {
    var random = new Random(rank);
    var numbers = new float[length];
    for (int i = 0; i < length; i++) {
      numbers[i] = (float) (random.nextGaussian() * 0.01);
    }
    return numbers;
  }

  private static RankSlices slices(int ranks) {
    return ranks == 3 ? UNEVEN : RankSlices.of(32, 9);
  }

  /** Returns what each rank ends with. */
  private static float[][] summed(Dtype wire, RankSlices slices, IntFunction<float[]> numbersOf) {
    return Ranks.call(
            slices.ranks(),
            collective -> sum(collective, wire, slices, numbersOf.apply(collective.rank())))
        .toArray(float[][]::new);
  }

  private static float[] sum(
      Collective collective, Dtype wire, RankSlices slices, float[] numbers) {
    try (var _ = TensorScope.open()) {
      var whole = tensor(numbers);
      var own = slices.slice(whole, collective.rank());
      ReduceScatter.of(collective, wire).start(own, whole, slices, Traffic.EXCHANGE).await();
      return NativeView.of(own.contiguous()).toArray(ValueLayout.JAVA_FLOAT);
    }
  }

  private static Tensor tensor(float[] numbers) {
    var tensor = Tensors.zeros(torch.ScalarType.Float, numbers.length);
    NativeView.of(tensor).copyFrom(MemorySegment.ofArray(numbers));
    return tensor;
  }

  /** Rounds to 8 bits of precision, ties to even: the upper half of a float32's bits. */
  private static float asBf16(float number) {
    int bits = Float.floatToRawIntBits(number);
    int rounded = bits + 0x7fff + ((bits >> 16) & 1);
    return Float.intBitsToFloat(rounded & 0xffff0000);
  }

  /** Rounds to fp16 as part of a slice, whose largest number comes to lie in [2^14, 2^15). */
  private static float asFp16(float number, float largest) {
    int exponent = 14 - Math.getExponent(largest);
    float scaled = Math.scalb(number, exponent);
    return Math.scalb(Float.float16ToFloat(Float.floatToFloat16(scaled)), -exponent);
  }

  private static float largest(float[] numbers, RankSlices slices, int rank) {
    float largest = 0;
    for (long i = slices.offset(rank); i < slices.offset(rank) + slices.length(rank); i++) {
      largest = Math.max(largest, Math.abs(numbers[(int) i]));
    }
    return largest;
  }

  /** The rank's own part is rounded too; terms are added in float32, in the order of ranks. */
  @ParameterizedTest
  @CsvSource({"2, BF16", "2, FP16", "3, BF16", "3, FP16"})
  void isTheSumOfWhatWasRoundedInTheOrderOfRanks(int ranks, Dtype wire) {
    var slices = slices(ranks);
    int length = (int) slices.elements();
    var results = summed(wire, slices, rank -> numbers(rank, length));
    for (int owner = 0; owner < ranks; owner++) {
      assertThat(results[owner]).hasSize((int) slices.length(owner));
      for (int i = 0; i < results[owner].length; i++) {
        float sum = 0;
        for (int rank = 0; rank < ranks; rank++) {
          var all = numbers(rank, length);
          float number = all[(int) slices.offset(owner) + i];
          sum += wire == Dtype.BF16 ? asBf16(number) : asFp16(number, largest(all, slices, owner));
        }
        assertThat(results[owner][i]).as("%d of rank %d", i, owner).isEqualTo(sum);
      }
    }
  }

  @Test
  void addsInFloat32AndRoundsNoSum() {
    // Neither bf16 nor fp16 has 4097.
    for (var wire : new Dtype[] {Dtype.BF16, Dtype.FP16}) {
      var results =
          summed(
              wire, RankSlices.of(1, 0, 0), rank -> new float[] {new float[] {4096, 0, 1}[rank]});
      assertThat(results[0]).containsExactly(4097);
      assertThat(results[1]).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({"1e30", "1e-30", "3e38"})
  void scalesSoThatFp16NeitherOverflowsNorVanishes(float size) {
    var results =
        summed(
            Dtype.FP16,
            RankSlices.of(1, 2),
            rank -> new float[] {0, rank == 0 ? size : 0, size / 1024});
    assertThat(results[1][0]).isCloseTo(size, within(size / 1000));
    assertThat(results[1][1]).isCloseTo(size / 512, within(size / 500_000));
  }

  @ParameterizedTest
  @EnumSource(
      value = Dtype.class,
      names = {"BF16", "FP16"})
  void passesOnWhatIsNotFinite(Dtype wire) {
    var results =
        summed(
            wire,
            RankSlices.of(2, 2),
            rank -> new float[] {1, rank == 1 ? Float.NaN : 1, 3, rank == 0 ? 1 / 0f : 1});
    assertThat(results[0][1]).isNaN();
    assertThat(results[1][1]).isInfinite();
  }

  @Test
  void oneRankAloneRoundsNothing() {
    var results = summed(Dtype.BF16, RankSlices.of(1), _ -> new float[] {1.2345678f});
    assertThat(results[0]).containsExactly(1.2345678f);
  }

  private static List<Long> bytesSent() {
    var slices = RankSlices.of(10_000, 10_000, 10_000);
    return Ranks.call(
        3,
        collective -> {
          sum(collective, Dtype.BF16, slices, numbers(collective.rank(), 30_000));
          return collective.count(Traffic.EXCHANGE).bytesSent();
        });
  }

  @Test
  void sendsHalfTheBytesAndLeavesNoNativeObject() {
    // 2 of 3 slices of 10,000 numbers of 2 bytes.
    assertThat(bytesSent()).containsOnly(40_000L);
    long before = Pointer.totalCount();
    bytesSent();
    assertThat(Pointer.totalCount()).isLessThanOrEqualTo(before);
  }
}
