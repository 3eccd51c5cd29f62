package dev.flotilla.strategy.compress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.wire.Dtype;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WireFormatTests {

  private final SplittableRandom random = new SplittableRandom(3);

  private static ByteBuffer buffer(MemorySegment memory) {
    return memory.asByteBuffer().order(ByteOrder.nativeOrder());
  }

  private int[] indices(int count, int universe) {
    return random.ints(0, universe).distinct().limit(count).sorted().toArray();
  }

  private float[] values(int count, double size) {
    var values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) (random.nextGaussian() * size);
    }
    return values;
  }

  @ParameterizedTest
  @CsvSource({
    "INT32, FP32",
    "INT32, FP16",
    "PACKED, FP32",
    "PACKED, FP16",
  })
  void whatIsWrittenIsRead(IndexFormat indices, Dtype values) {
    for (int round = 0; round < 200; round++) {
      int universe = 1 + random.nextInt(20_000);
      int capacity = 1 + random.nextInt(universe);
      int count = random.nextInt(capacity + 1);
      roundTrip(new WireFormat(indices, values, capacity, universe), indices(count, universe));
    }
  }

  private void roundTrip(WireFormat format, int[] indices) {
    int count = indices.length;
    var sent = values(count, 1e-4);
    var before = sent.clone();
    try (var memory = Arena.ofConfined()) {
      var message = buffer(memory.allocate(4L * format.words(), 4).fill((byte) 0x55));
      format.write(message, indices, sent, count);
      var readIndices = new int[format.capacity()];
      var readValues = new float[format.capacity()];
      assertThat(format.readIndices(message, readIndices)).isEqualTo(count);
      format.readValues(message, readValues, count);
      assertThat(Arrays.copyOf(readIndices, count)).isEqualTo(indices);
      assertThat(Arrays.copyOf(readValues, count)).isEqualTo(sent);
    }
    for (int i = 0; i < count; i++) {
      double allowed = format.dtype() == Dtype.FP32 ? 0 : Math.abs(before[i]) / 1024 + 1e-10;
      assertThat((double) sent[i]).isBetween(before[i] - allowed, before[i] + allowed);
      assertThat(sent[i] + (before[i] - sent[i])).isEqualTo(before[i]);
    }
  }

  @Test
  void theWorstIndicesStillFit() {
    for (int capacity : new int[] {1, 5, 100, 999, 1000}) {
      var format = new WireFormat(IndexFormat.PACKED, Dtype.FP32, capacity, 1000);
      int[] first = java.util.stream.IntStream.range(0, capacity).toArray();
      int[] last = java.util.stream.IntStream.range(1000 - capacity, 1000).toArray();
      roundTrip(format, first);
      roundTrip(format, last);
    }
  }

  @Test
  void hugeAndTinyValuesSurviveSixteenBits() {
    var format = new WireFormat(IndexFormat.INT32, Dtype.FP16, 4, 100);
    for (float size : new float[] {1e-30f, 1e-8f, 1, 7e4f, 3e30f}) {
      var sent = new float[] {size, -size / 3, size / 1000, 0};
      try (var memory = Arena.ofConfined()) {
        var message = buffer(memory.allocate(4L * format.words(), 4));
        format.write(message, new int[] {1, 2, 3, 4}, sent, 4);
      }
      assertThat(sent[0])
          .isFinite()
          .isCloseTo(size, org.assertj.core.data.Percentage.withPercentage(0.1));
      assertThat(sent[1])
          .isCloseTo(-size / 3, org.assertj.core.data.Percentage.withPercentage(0.1));
    }
  }

  /** Four bytes per gradient against what is sent, at a sparsity of 99.9 %. */
  @Test
  void aThousandthIsFiveHundredTimesSmallerAndNineHundredWhenPacked() {
    for (int elements : new int[] {16384, 65536, 2359296, 11_150_000}) {
      assertThat(ratio(IndexFormat.INT32, Dtype.FP32, elements)).isGreaterThanOrEqualTo(500);
      assertThat(ratio(IndexFormat.INT32, Dtype.FP16, elements)).isGreaterThanOrEqualTo(600);
    }
    for (int elements : new int[] {65536, 2359296, 11_150_000}) {
      assertThat(ratio(IndexFormat.PACKED, Dtype.FP16, elements)).isGreaterThanOrEqualTo(900);
    }
    assertThat(ratio(IndexFormat.PACKED, Dtype.FP16, 11_150_000)).isGreaterThanOrEqualTo(1100);
  }

  private static double ratio(IndexFormat indices, Dtype values, int elements) {
    var format = new WireFormat(indices, values, Ramp.kept(elements, 0.999), elements);
    return (double) elements / format.words();
  }
}
