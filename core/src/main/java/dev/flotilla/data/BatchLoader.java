package dev.flotilla.data;

import dev.flotilla.memory.CpuThreads;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.world.MissingNativeException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongFunction;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Loads one rank's batches: on threads of its own, a few ahead of the one that is asked for, or at
 * once for a data set that wants no threads. Counts how long the caller waited.
 *
 * <p>Batches and their order do not depend on the threads. What is loaded ahead, two batches per
 * thread at most, belongs to the loader until it is asked for, and is freed when it closes. The
 * loader itself belongs to one thread.
 */
public final class BatchLoader implements AutoCloseable {

  private static final Duration LONGEST_LOAD = Duration.ofMinutes(10);

  /** A disk that hangs must not keep a run that fails from saying so. */
  private static final Duration LONGEST_CLOSE = Duration.ofSeconds(2);

  private final LongFunction<Batch> source;
  private final LongPredicate exists;
  private final int ahead;
  private final @Nullable ExecutorService threads;
  private final Deque<Future<Batch>> loading = new ArrayDeque<>();
  private volatile boolean isClosed;
  private volatile boolean isPinned;
  private @Nullable Runnable onClose;
  private long next;
  private long waited;

  /**
   * Creates a loader.
   *
   * @param source loads a batch, given its number, into the scope of the thread that calls it
   * @param exists tells whether there may be a batch of this number
   * @param threadCount threads to load on; 0 for the caller's own
   */
  BatchLoader(LongFunction<Batch> source, LongPredicate exists, int threadCount) {
    this.source = source;
    this.exists = exists;
    this.ahead = 2 * threadCount;
    this.threads =
        threadCount == 0
            ? null
            : Executors.newFixedThreadPool(
                threadCount,
                CpuThreads.helpers(
                    Thread.ofPlatform().daemon().name("flotilla-loader-", 0).factory()));
  }

  /** Puts batches that are loaded ahead where a device can copy them from by itself, or not. */
  public BatchLoader pinned(boolean wanted) {
    isPinned = wanted;
    return this;
  }

  /** Does something on a loading thread when the loader is closed. */
  BatchLoader closing(Runnable action) {
    onClose = action;
    return this;
  }

  /** Returns a batch in the caller's scope; asking for them in order is what makes it quick. */
  public Batch load(long index) {
    long start = System.nanoTime();
    try {
      return threads == null ? read(index) : take(index, threads);
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
      forget(LONGEST_LOAD);
      next = index;
    }
    fill(pool);
    var batch = result(loading.removeFirst(), LONGEST_LOAD);
    fill(pool);
    batch.inputs().forEach(TensorScope::adopt);
    batch.allTargets().forEach(TensorScope::adopt);
    return batch;
  }

  private void fill(ExecutorService pool) {
    while (loading.size() < ahead && exists.test(next)) {
      long index = next++;
      loading.addLast(pool.submit(() -> loadForAnotherThread(index)));
    }
  }

  private Batch read(long index) {
    return MissingNativeException.explain(() -> source.apply(index));
  }

  private Batch loadForAnotherThread(long index) {
    if (isClosed) {
      return Batch.empty();
    }
    try (var scope = TensorScope.open()) {
      var loaded = read(index);
      var batch = isPinned ? loaded.pinned() : loaded;
      // Nobody may be waiting any more; then the scope frees it.
      if (isClosed || batch.isEmpty()) {
        return Batch.empty();
      }
      batch.inputs().forEach(scope::handOut);
      batch.allTargets().forEach(scope::handOut);
      return batch;
    }
  }

  private static Batch result(Future<Batch> future, Duration longest) {
    try {
      return future.get(longest.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new IllegalStateException(
          "loading a batch took more than %d minutes".formatted(longest.toMinutes()), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for data", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      if (e.getCause() instanceof Error failure) {
        throw failure;
      }
      throw new IllegalStateException("data cannot be loaded", e.getCause());
    }
  }

  /** Frees what was loaded and not asked for, after waiting for what is under way. */
  private void forget(Duration longest) {
    for (var future : loading) {
      try {
        free(result(future, longest));
      } catch (RuntimeException | Error unasked) {
        // What failed was never asked for.
      }
    }
    loading.clear();
  }

  private static void free(Batch batch) {
    batch.inputs().forEach(TensorScope::free);
    batch.allTargets().forEach(TensorScope::free);
  }

  @Override
  public void close() {
    if (threads == null) {
      return;
    }
    isClosed = true;
    var last = onClose;
    if (last != null) {
      loading.addLast(threads.submit(last, Batch.empty()));
    }
    threads.shutdown();
    forget(LONGEST_CLOSE);
  }
}
