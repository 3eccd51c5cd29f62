package dev.flotilla.exchange;

import dev.flotilla.arena.Bucket;
import dev.flotilla.exchange.ExchangeTimes.BucketTime;
import dev.flotilla.memory.TensorScope;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Starts the collectives of one window's buckets in an order that is the same on all ranks, whoever
 * is slower.
 *
 * <p>Stage s of bucket b comes by b + s, and of equal ones the later bucket's first: the first
 * collective of bucket b + 1 starts before the second of bucket b, so that one is on the wire while
 * the other is computed. Nothing is awaited on the thread that starts collectives: another one
 * awaits them and tells what may start next. No more than two buckets are under way, or as many as
 * a bucket has stages; more would only take bandwidth from each other, and from the one that is
 * needed first.
 */
final class BucketPipeline {

  private static final int UNDER_WAY = 2;

  /** How far a bucket has come. */
  private static final class Progress {

    private final Bucket bucket;
    private @Nullable List<Stage> stages;
    private int arrived;
    private long start;
    private long end;

    Progress(Bucket bucket) {
      this.bucket = bucket;
    }

    boolean isDone() {
      return stages != null && arrived == stages.size();
    }
  }

  private final List<Progress> buckets;
  private final Function<Bucket, List<Stage>> reduce;
  private final Executor starts;
  private final Executor arrivals;
  private int complete;
  private int diagonal;
  private int stage;
  private int mostStages;
  private @Nullable Throwable failure;

  /**
   * Prepares a window.
   *
   * @param reduce gives the stages of a bucket
   * @param starts runs what starts collectives, in turn
   * @param arrivals runs what awaits them, in turn
   */
  BucketPipeline(
      List<Bucket> buckets,
      Function<Bucket, List<Stage>> reduce,
      Executor starts,
      Executor arrivals) {
    this.buckets = buckets.stream().map(Progress::new).toList();
    this.reduce = reduce;
    this.starts = starts;
    this.arrivals = arrivals;
  }

  /** Runs a task in turn with the starts of collectives; its failure is the window's. */
  void run(Runnable task) {
    starts.execute(() -> guarded(task));
  }

  /** Runs a task in turn with the starts of collectives, and waits until it is done. */
  void call(Runnable task) {
    var isDone = new boolean[1];
    run(
        () -> {
          task.run();
          synchronized (this) {
            isDone[0] = true;
            notifyAll();
          }
        });
    waitUntil(() -> isDone[0]);
  }

  /** Hears that the gradients of the next bucket are final. */
  synchronized void bucketIsComplete() {
    complete++;
    startWhatIsReady();
  }

  /** Reduces all buckets that are left, and waits until all have arrived. */
  synchronized void finish() {
    complete = buckets.size();
    startWhatIsReady();
    waitUntil(() -> buckets.stream().allMatch(Progress::isDone));
  }

  /** Each wait of another thread has a timeout, so that this one ends too. */
  private synchronized void waitUntil(BooleanSupplier condition) {
    try {
      while (failure == null && !condition.getAsBoolean()) {
        wait();
      }
    } catch (InterruptedException interruption) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while ranks exchanged", interruption);
    }
    if (failure != null) {
      throw asRuntime(failure);
    }
  }

  private static RuntimeException asRuntime(Throwable failure) {
    return switch (failure) {
      case RuntimeException exception -> exception;
      case Error error -> throw error;
      default -> new IllegalStateException(failure);
    };
  }

  private synchronized void startWhatIsReady() {
    while (failure == null && findNext() && isReady()) {
      var next = buckets.get(diagonal - stage);
      int which = stage++;
      starts.execute(() -> guarded(() -> start(next, which)));
    }
  }

  /** Moves on to the next stage in the order; false if there is none, or not known yet. */
  private boolean findNext() {
    while (diagonal < buckets.size() + mostStages) {
      int bucket = diagonal - stage;
      var stages = bucket >= 0 && bucket < buckets.size() ? buckets.get(bucket).stages : List.of();
      if (bucket >= 0 && bucket < buckets.size() && stage == 0) {
        return true;
      } else if (stages == null) {
        return false;
      } else if (stage > 0 && stage < stages.size()) {
        return true;
      }
      stage++;
      // Whoever is known to have stages left is looked at; the bucket before must be known.
      if (stage > diagonal || stage >= Math.max(2, mostStages)) {
        diagonal++;
        stage = 0;
      }
    }
    return false;
  }

  private boolean isReady() {
    int bucket = diagonal - stage;
    if (stage > 0) {
      return buckets.get(bucket).arrived == stage;
    }
    int before = bucket - Math.max(UNDER_WAY, mostStages);
    return bucket < complete && (before < 0 || buckets.get(before).isDone());
  }

  private void start(Progress bucket, int which) {
    if (which == 0) {
      bucket.start = System.nanoTime();
      stagesKnown(bucket, reduce.apply(bucket.bucket));
    }
    if (bucket.isDone()) {
      return;
    }
    var pending = stages(bucket).get(which).start();
    arrivals.execute(
        () ->
            guarded(
                () -> {
                  pending.await();
                  arrived(bucket);
                }));
  }

  private synchronized void stagesKnown(Progress bucket, List<Stage> stages) {
    bucket.stages = stages;
    bucket.end = System.nanoTime();
    mostStages = Math.max(mostStages, stages.size());
    startWhatIsReady();
    notifyAll();
  }

  private static List<Stage> stages(Progress bucket) {
    return bucket.stages == null ? List.of() : bucket.stages;
  }

  private synchronized void arrived(Progress bucket) {
    bucket.arrived++;
    bucket.end = System.nanoTime();
    startWhatIsReady();
    notifyAll();
  }

  /** The first failure ends the window; what is under way still arrives. */
  private void guarded(Runnable task) {
    try (var _ = TensorScope.open()) {
      task.run();
    } catch (RuntimeException | Error thrown) {
      synchronized (this) {
        failure = failure == null ? thrown : failure;
        notifyAll();
      }
    }
  }

  /** Returns when each bucket was under way. */
  synchronized List<BucketTime> times() {
    List<BucketTime> times = new ArrayList<>();
    buckets.forEach(each -> times.add(new BucketTime(each.bucket, each.start, each.end)));
    return times;
  }
}
