package dev.flotilla.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.bytedeco.javacpp.Pointer;
import org.junit.jupiter.api.Test;

final class BatchLoaderTests {

  /** Samples that are their own numbers and take their time. */
  private record Slow(int size, int loadingThreads, int failing, AtomicInteger loads)
      implements Dataset {

    Slow(int size, int threads) {
      this(size, threads, -1, new AtomicInteger());
    }

    @Override
    public Batch load(int[] samples) {
      loads.incrementAndGet();
      if (Arrays.stream(samples).anyMatch(sample -> sample == failing)) {
        throw new IllegalArgumentException("sample " + failing + " is damaged");
      }
      var numbers = Tensors.ofLongs(Arrays.stream(samples).asLongStream().toArray());
      return new Batch(List.of(numbers), Tensors.ofLongs(samples[0]), samples.length);
    }
  }

  private static List<String> loaded(Dataset data, long... indices) {
    List<String> seen = new ArrayList<>();
    try (var loader = BatchSource.global(data, 3).shuffled(7).epoch(2, 0, 1).loader()) {
      for (long index : indices) {
        try (var _ = TensorScope.open()) {
          var batch = loader.load(index);
          var numbers = NativeView.of(batch.inputs().getFirst()).toArray(ValueLayout.JAVA_LONG);
          seen.add(Arrays.toString(numbers) + batch.targets().item_long());
        }
      }
    }
    return seen;
  }

  @Test
  void givesTheSameBatchesWhateverTheNumberOfThreads() {
    long[] all = {0, 1, 2, 3, 4, 5, 6};
    var alone = loaded(new Slow(20, 0), all);
    assertThat(loaded(new Slow(20, 1), all)).isEqualTo(alone);
    assertThat(loaded(new Slow(20, 3), all)).isEqualTo(alone);
  }

  @Test
  void jumpsToAnyBatch() {
    var alone = loaded(new Slow(30, 0), 4, 5, 1, 2, 9);
    assertThat(loaded(new Slow(30, 2), 4, 5, 1, 2, 9)).isEqualTo(alone);
  }

  @Test
  void loadsNoMoreAheadThanItsBound() throws InterruptedException {
    var data = new Slow(300, 1);
    try (var loader = BatchSource.global(data, 3).epoch(0, 0, 1).loader();
        var _ = TensorScope.open()) {
      loader.load(0);
      Thread.sleep(100);
      assertThat(data.loads().get()).isBetween(2, 3);
    }
  }

  @Test
  void saysWhatFailedWhenThatBatchIsAskedFor() {
    var data = new Slow(9, 1, 4, new AtomicInteger());
    try (var loader = BatchSource.global(data, 3).epoch(0, 0, 1).loader();
        var _ = TensorScope.open()) {
      loader.load(0);
      assertThatThrownBy(() -> loader.load(1)).hasMessage("sample 4 is damaged");
    }
  }

  @Test
  void freesWhatWasNeverAskedFor() {
    loaded(new Slow(300, 2), 0, 1);
    long before = Pointer.totalCount();
    for (int i = 0; i < 50; i++) {
      loaded(new Slow(300, 2), 0, 1);
    }
    assertThat(Pointer.totalCount() - before).isLessThan(10);
  }

  @Test
  void countsTheTimeThatWasWaited() {
    Dataset slow =
        dataset(
            2,
            _ -> {
              try {
                Thread.sleep(50);
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    try (var loader = BatchSource.global(slow, 1).epoch(0, 0, 1).loader();
        var _ = TensorScope.open()) {
      loader.load(0);
      assertThat(loader.waitedSeconds()).isGreaterThan(0.04);
    }
  }

  /** Samples that are 1, loaded after something else has happened. */
  private static Dataset dataset(int size, IntConsumer before) {
    return new Dataset() {
      @Override
      public int size() {
        return size;
      }

      @Override
      public Batch load(int[] samples) {
        before.accept(samples[0]);
        return new Batch(List.of(Tensors.ofLongs(1)), Tensors.ofLongs(1), samples.length);
      }
    };
  }

  @Test
  void otherThreadsLoadUnlessTheDataForbidsIt() {
    var threads = new ConcurrentLinkedQueue<Thread>();
    var data = dataset(6, _ -> threads.add(Thread.currentThread()));
    try (var training = BatchSource.global(data, 3).epoch(0, 0, 1).loader();
        var evaluation = EvaluationShard.of(data, 3, 0, 1).loader();
        var _ = TensorScope.open()) {
      training.load(0);
      evaluation.load(0);
      evaluation.load(1);
    }
    assertThat(threads).hasSizeGreaterThan(2).doesNotContain(Thread.currentThread());
  }

  @Test
  void runsOutOfMemoryAsTheTrainingThreadWould() {
    var data =
        dataset(
            1,
            _ -> {
              throw new OutOfMemoryError("no room for a batch");
            });
    try (var loader = BatchSource.global(data, 1).epoch(0, 0, 1).loader()) {
      assertThatThrownBy(() -> loader.load(0)).isInstanceOf(OutOfMemoryError.class);
    }
  }

  @Test
  void aDiskThatHangsDoesNotKeepItFromClosing() {
    var hangs = new CountDownLatch(1);
    var data =
        dataset(
            3,
            sample -> {
              try {
                assertThat(sample == 0 || hangs.await(1, TimeUnit.MINUTES)).isTrue();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    long start = System.nanoTime();
    try (var loader = BatchSource.global(data, 1).epoch(0, 0, 1).loader();
        var _ = TensorScope.open()) {
      loader.load(0);
    }
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    hangs.countDown();
  }
}
