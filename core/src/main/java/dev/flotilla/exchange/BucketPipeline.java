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
 * the other is computed. A bucket whose stages do not all depend on each other takes several places
 * in that order, one for each chain of those that do. Nothing is awaited on the thread that starts
 * collectives: another one awaits them and tells what may start next. No more than two chains are
 * under way, or as many as one has stages; more would only take bandwidth from each other, and from
 * the one that is needed first.
 */
final class BucketPipeline {

  private static final int UNDER_WAY = 2;

  /** How far a chain of a bucket's stages has come. */
  private static final class Progress {

    private final Bucket bucket;
    private @Nullable List<Stage> stages;
    private int arrived;
    private long start;
    private long end;

    Progress(Bucket bucket, @Nullable List<Stage> stages) {
      this.bucket = bucket;
      this.stages = stages;
    }

    boolean isDone() {
      return stages != null && arrived == stages.size();
    }
  }

  /** The first chain of each bucket, and the others from when they are known. */
  private final List<Progress> chains = new ArrayList<>();

  private final int buckets;
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
    this.buckets = buckets.size();
    buckets.forEach(bucket -> chains.add(new Progress(bucket, null)));
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

  /** Waits until no more buckets than so many are complete and not reduced yet. */
  synchronized void awaitBacklog(int most) {
    waitUntil(() -> waiting() <= most);
  }

  private synchronized long waiting() {
    return chains.stream()
        .filter(chain -> !chain.isDone() && chain.bucket.index() < complete)
        .mapToInt(chain -> chain.bucket.index())
        .distinct()
        .count();
  }

  /** Reduces all buckets that are left, and waits until all have arrived. */
  synchronized void finish() {
    complete = buckets;
    startWhatIsReady();
    waitUntil(this::isDone);
  }

  private boolean isDone() {
    for (var chain : chains) {
      if (!chain.isDone()) {
        return false;
      }
    }
    return true;
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
      var next = chains.get(diagonal - stage);
      int which = stage++;
      starts.execute(() -> guarded(() -> start(next, which)));
    }
  }

  /** Moves on to the next stage in the order; false if there is none, or not known yet. */
  private boolean findNext() {
    while (diagonal < chains.size() + mostStages) {
      int chain = diagonal - stage;
      boolean exists = chain >= 0 && chain < chains.size();
      // The bucket before may have more chains, which come first; behind the last one, too.
      boolean mayGrow = chain > 0 && chain <= chains.size() && chains.get(chain - 1).stages == null;
      if (stage == 0 && mayGrow) {
        return false;
      } else if (exists && stage == 0) {
        return true;
      }
      var stages = exists ? chains.get(chain).stages : List.of();
      if (stages == null) {
        return false;
      } else if (stage > 0 && stage < stages.size()) {
        return true;
      }
      stage++;
      // Whoever is known to have stages left is looked at; the chain before must be known.
      if (stage > diagonal || stage >= Math.max(2, mostStages)) {
        diagonal++;
        stage = 0;
      }
    }
    return false;
  }

  private boolean isReady() {
    int chain = diagonal - stage;
    if (stage > 0) {
      return chains.get(chain).arrived == stage;
    }
    int before = chain - Math.max(UNDER_WAY, mostStages);
    return chains.get(chain).bucket.index() < complete
        && (before < 0 || chains.get(before).isDone());
  }

  private void start(Progress chain, int which) {
    if (which == 0) {
      chain.start = System.nanoTime();
      if (chain.stages == null) {
        stagesKnown(chain, chains(reduce.apply(chain.bucket)));
      }
    }
    if (chain.isDone()) {
      return;
    }
    var pending = stages(chain).get(which).start();
    arrivals.execute(
        () ->
            guarded(
                () -> {
                  pending.await();
                  arrived(chain);
                }));
  }

  /** Returns the chains of dependent stages that a list consists of; at least one. */
  private static List<List<Stage>> chains(List<Stage> stages) {
    List<List<Stage>> chains = new ArrayList<>();
    chains.add(new ArrayList<>());
    for (var stage : stages) {
      if (stage.isIndependent() && !chains.getLast().isEmpty()) {
        chains.add(new ArrayList<>());
      }
      chains.getLast().add(stage);
    }
    return chains;
  }

  private synchronized void stagesKnown(Progress first, List<List<Stage>> all) {
    first.stages = all.getFirst();
    first.end = System.nanoTime();
    int after = chains.indexOf(first) + 1;
    all.subList(1, all.size())
        .reversed()
        .forEach(stages -> chains.add(after, new Progress(first.bucket, stages)));
    all.forEach(stages -> mostStages = Math.max(mostStages, stages.size()));
    startWhatIsReady();
    notifyAll();
  }

  private static List<Stage> stages(Progress chain) {
    return chain.stages == null ? List.of() : chain.stages;
  }

  private synchronized void arrived(Progress chain) {
    chain.arrived++;
    chain.end = System.nanoTime();
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
    for (var chain : chains) {
      boolean isFirst = times.isEmpty() || times.getLast().bucket().index() != chain.bucket.index();
      long start = isFirst ? chain.start : times.removeLast().start();
      times.add(new BucketTime(chain.bucket, start, chain.end));
    }
    return times;
  }
}
