package dev.flotilla.data;

import dev.flotilla.memory.TensorScope;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Loads one rank's batches of an epoch: on threads of its own, a few ahead of the one that is asked
 * for, where the data set wants it; otherwise at once. Counts how long the caller waited.
 *
 * <p>What is loaded ahead belongs to the loader until it is asked for, and is freed when it closes.
 * The loader itself belongs to one thread.
 */
public final class BatchLoader implements AutoCloseable {

  private static final long MOST_MINUTES = 10;

  private final RankShard shard;
  private final int ahead;
  private final @Nullable ExecutorService threads;
  private final Deque<Future<Batch>> loading = new ArrayDeque<>();
  private volatile boolean isClosed;
  private long next;
  private long waited;

  BatchLoader(RankShard shard, int threadCount) {
    this.shard = shard;
    this.ahead = 2 * threadCount;
    this.threads =
        threadCount == 0
            ? null
            : Executors.newFixedThreadPool(
                threadCount, Thread.ofPlatform().daemon().name("flotilla-loader-", 0).factory());
  }

  /** Returns a batch in the caller's scope; asking for them in order is what makes it quick. */
  public Batch load(long index) {
    long start = System.nanoTime();
    try {
      return threads == null ? shard.load(index) : take(index, threads);
    } finally {
      waited += System.nanoTime() - start;
    }
  }

  /** Returns the seconds that the caller has waited for data. */
  public double waitedSeconds() {
    return waited / 1e9;
  }

  private Batch take(long index, ExecutorService pool) {
    if (loading.isEmpty() || index != next - loading.size()) {
      forget();
      next = index;
    }
    fill(pool);
    var batch = result(loading.removeFirst());
    fill(pool);
    batch.inputs().forEach(TensorScope::adopt);
    if (!batch.isEmpty()) {
      TensorScope.adopt(batch.targets());
    }
    return batch;
  }

  private void fill(ExecutorService pool) {
    while (loading.size() < ahead && next < shard.batches()) {
      long index = next++;
      loading.addLast(pool.submit(() -> loadForAnotherThread(index)));
    }
  }

  private Batch loadForAnotherThread(long index) {
    if (isClosed) {
      return Batch.empty();
    }
    try (var scope = TensorScope.open()) {
      var batch = shard.load(index);
      batch.inputs().forEach(scope::handOut);
      if (!batch.isEmpty()) {
        scope.handOut(batch.targets());
      }
      return batch;
    }
  }

  private static Batch result(Future<Batch> future) {
    try {
      return future.get(MOST_MINUTES, TimeUnit.MINUTES);
    } catch (TimeoutException e) {
      throw new IllegalStateException(
          "loading a batch took more than %d minutes".formatted(MOST_MINUTES), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for data", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new IllegalStateException("data cannot be loaded", e.getCause());
    }
  }

  /** Frees what was loaded and not asked for, after waiting for what is under way. */
  private void forget() {
    for (var future : loading) {
      try {
        free(result(future));
      } catch (RuntimeException unasked) {
        // What failed was never asked for.
      }
    }
    loading.clear();
  }

  private static void free(Batch batch) {
    batch.inputs().forEach(TensorScope::free);
    TensorScope.free(batch.targets());
  }

  @Override
  public void close() {
    if (threads == null) {
      return;
    }
    isClosed = true;
    threads.shutdown();
    forget();
  }
}
