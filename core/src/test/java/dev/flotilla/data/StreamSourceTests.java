package dev.flotilla.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Streams of unknown length, cut into batches and shared out over ranks. */
final class StreamSourceTests {

  private static final Encoding<Integer> ENCODING =
      Encoding.<Integer>empty().input(it -> new float[] {it}).label(it -> it % 2);

  private static StreamSource<Integer> numbers(int count, int batch) {
    return StreamSource.of(_ -> IntStream.range(0, count).boxed(), ENCODING, batch);
  }

  private static List<Integer> read(Batch batch) {
    List<Integer> seen = new ArrayList<>();
    if (!batch.isEmpty()) {
      for (float number : Tensors.toFloats(batch.inputs().getFirst())) {
        seen.add((int) number);
      }
    }
    return seen;
  }

  /** Returns what all ranks see of an epoch, batch by batch. */
  private static List<List<Integer>> epoch(EpochSource source, long epoch, int ranks, long from) {
    List<List<Integer>> all = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      var shard = source.epoch(epoch, rank, ranks);
      try (var loader = shard.loader()) {
        for (long i = from; shard.has(i); i++) {
          if (rank == 0) {
            all.add(new ArrayList<>());
          }
          try (var _ = TensorScope.open()) {
            all.get((int) (i - from)).addAll(read(loader.load(i)));
          }
          assertThat(all.get((int) (i - from))).hasSizeLessThanOrEqualTo(shard.globalSize(i));
        }
      }
    }
    return all;
  }

  private static List<Integer> flat(List<List<Integer>> batches) {
    return batches.stream().flatMap(List::stream).toList();
  }

  @ParameterizedTest
  @CsvSource({"1, 4", "3, 4", "4, 4", "17, 4", "20, 4", "9, 100", "250, 7"})
  void eachSampleComesOnceWhateverTheNumberOfRanks(int count, int batch) {
    var all = IntStream.range(0, count).boxed().toList();
    for (int ranks = 1; ranks <= 3; ranks++) {
      var plain = numbers(count, batch);
      assertThat(flat(epoch(plain, 0, ranks, 0))).isEqualTo(all);
      var shuffled = plain.shuffled(5, 16);
      var seen = epoch(shuffled, 3, ranks, 0);
      assertThat(seen).isEqualTo(epoch(shuffled, 3, 1, 0)).hasSize(Math.ceilDiv(count, batch));
      assertThat(flat(seen)).containsExactlyInAnyOrderElementsOf(all);
    }
  }

  @Test
  void theOrderIsAFunctionOfSeedAndEpoch() {
    var source = numbers(100, 10).shuffled(5, 20);
    var order = flat(epoch(source, 0, 1, 0));
    assertThat(flat(epoch(source, 0, 1, 0))).isEqualTo(order);
    assertThat(flat(epoch(source, 1, 1, 0))).isNotEqualTo(order);
    assertThat(flat(epoch(source.shuffled(6, 20), 0, 1, 0))).isNotEqualTo(order);
    // A sample leaves the buffer no earlier than it could have come in.
    for (int i = 0; i < 100; i++) {
      assertThat(order.get(i)).isLessThan(i + 20);
    }
  }

  @Test
  void anyPlaceIsFoundByPassingOver() {
    var source = numbers(53, 10).shuffled(5, 20);
    var whole = epoch(source, 2, 2, 0);
    for (int from = 0; from <= 6; from++) {
      assertThat(epoch(source, 2, 2, from)).isEqualTo(whole.subList(from, 6));
    }
    var shard = source.epoch(2, 0, 1);
    try (var _ = TensorScope.open()) {
      for (int index : new int[] {4, 1, 5, 0, 0}) {
        assertThat(read(shard.load(index))).isEqualTo(whole.get(index));
      }
    }
  }

  @Test
  void aSmallerLastBatchIsKnownAndLeftOutIfAsked() {
    var shard = numbers(23, 10).epoch(0, 0, 1);
    assertThat(shard.isLast(1)).isFalse();
    assertThat(shard.globalSize(1)).isEqualTo(10);
    assertThat(shard.isLast(2)).isTrue();
    assertThat(shard.globalSize(2)).isEqualTo(3);
    assertThat(flat(epoch(numbers(23, 10).dropLast(), 0, 3, 0))).hasSize(20);
    assertThat(numbers(20, 10).dropLast().epoch(0, 0, 1).isLast(1)).isTrue();
  }

  /** Far more numbers than memory could hold as objects; only what is ahead is ever read. */
  @Test
  void nothingIsHeldButTheBufferAndAFewBatches() {
    var read = new AtomicLong();
    var closed = new AtomicInteger();
    var endless =
        StreamSource.of(
                _ ->
                    Stream.iterate(0, it -> (it + 1) % 1000)
                        .peek(_ -> read.incrementAndGet())
                        .onClose(closed::incrementAndGet),
                ENCODING,
                10)
            .shuffled(1, 50);
    var shard = endless.epoch(0, 1, 2);
    try (var loader = shard.loader()) {
      for (int i = 0; i < 100; i++) {
        try (var _ = TensorScope.open()) {
          assertThat(shard.isLast(i)).isFalse();
          assertThat(read(loader.load(i))).hasSize(5);
        }
      }
    }
    assertThat(read.get()).isLessThan(10 * 105 + 52);
    assertThat(closed.get()).isEqualTo(1);
  }

  @Test
  void aLoopWithoutALoaderReadsTheStreamOnce() {
    var opened = new AtomicInteger();
    var source =
        StreamSource.of(
            _ -> {
              opened.incrementAndGet();
              return IntStream.range(0, 25).boxed();
            },
            ENCODING,
            4);
    var shard = source.epoch(0, 0, 1);
    List<Integer> seen = new ArrayList<>();
    boolean isLast = false;
    for (long i = 0; !isLast; i++) {
      isLast = shard.isLast(i);
      try (var _ = TensorScope.open()) {
        seen.addAll(read(shard.load(i)));
      }
    }
    assertThat(seen).isEqualTo(IntStream.range(0, 25).boxed().toList());
    assertThat(opened.get()).isEqualTo(1);
  }

  @Test
  void mistakesAreNamed() {
    var empty = StreamSource.of(_ -> Stream.<Integer>of(), ENCODING, 4);
    assertThatThrownBy(() -> empty.epoch(3, 0, 1).has(0))
        .hasMessage("epoch 3 of the stream has no sample: give it samples");
    assertThatThrownBy(() -> numbers(3, 4).dropLast().epoch(0, 0, 1).has(0))
        .hasMessageContaining("has no full batch");
    assertThatThrownBy(() -> numbers(9, 0)).hasMessage("batch must be at least 1, but was 0");
    assertThatThrownBy(() -> numbers(9, 3).shuffled(1, 1))
        .hasMessage("a buffer needs at least 2 samples to shuffle, but was to have 1");
    assertThatThrownBy(() -> numbers(9, 3).epoch(0, 0, 1).batches())
        .hasMessageContaining("ask has(index)");
    var ragged =
        StreamSource.of(
            _ -> IntStream.range(0, 9).boxed(),
            Encoding.<Integer>empty().input(it -> new float[it == 7 ? 2 : 1]).label(_ -> 0),
            4);
    try (var _ = TensorScope.open()) {
      var shard = ragged.epoch(0, 0, 1);
      assertThat(shard.load(0).samples()).isEqualTo(4);
      assertThatThrownBy(() -> shard.load(1))
          .hasMessageContaining("the input of sample 7 has 2 numbers, but 1 are expected");
    }
  }
}
