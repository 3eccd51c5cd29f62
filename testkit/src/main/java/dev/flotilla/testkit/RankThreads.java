package dev.flotilla.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.bytedeco.javacpp.PointerScope;

/** One thread per rank; collects what all of them return or throw. */
final class RankThreads<T> {

  private final Duration limit;
  private final AtomicReferenceArray<T> results;
  private final ConcurrentLinkedQueue<RankFailure> failures = new ConcurrentLinkedQueue<>();

  RankThreads(int size, Duration limit) {
    this.limit = limit;
    this.results = new AtomicReferenceArray<>(size);
  }

  /** Runs all ranks; throws the first failure with those of the others suppressed. */
  List<T> run(Task<T> task) {
    var threads = new ArrayList<Thread>();
    for (int rank = 0; rank < results.length(); rank++) {
      int own = rank;
      threads.add(
          Thread.ofPlatform().name("rank-" + rank).daemon().start(() -> runRank(own, task)));
    }
    long end = System.nanoTime() + limit.toNanos();
    for (int rank = 0; rank < results.length(); rank++) {
      awaitEnd(rank, threads.get(rank), end);
    }
    throwFirstFailure();
    return resultsInOrder();
  }

  // Whatever a rank throws is what the test is about.
  @SuppressWarnings("CatchingUnchecked")
  private void runRank(int rank, Task<T> task) {
    ThreadScheduling.preemptNobody();
    try (var _ = new PointerScope()) {
      results.set(rank, task.call(rank));
    } catch (Throwable e) {
      failures.add(new RankFailure(rank, e));
    }
  }

  private void awaitEnd(int rank, Thread thread, long end) {
    try {
      thread.join(Duration.ofNanos(Math.max(1, end - System.nanoTime())));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (thread.isAlive()) {
      var stuck = new TimeoutException("still running after " + limit);
      stuck.setStackTrace(thread.getStackTrace());
      failures.add(new RankFailure(rank, stuck));
      thread.interrupt();
    }
  }

  private void throwFirstFailure() {
    var first = failures.poll();
    if (first != null) {
      failures.forEach(first::addSuppressed);
      throw first;
    }
  }

  private List<T> resultsInOrder() {
    var list = new ArrayList<T>();
    for (int rank = 0; rank < results.length(); rank++) {
      list.add(results.get(rank));
    }
    return list;
  }

  interface Task<T> {
    T call(int rank) throws Exception;
  }
}
