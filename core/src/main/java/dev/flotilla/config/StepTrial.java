package dev.flotilla.config;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Traffic;
import dev.flotilla.data.Batch;
import dev.flotilla.memory.PeakMeter;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.optim.Constant;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.train.NonFinite;
import dev.flotilla.train.Trainer;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Makes some real steps of a recipe, and says what they took: memory, time, and what was sent.
 *
 * <p>{@link #pretending} makes them on this process alone, with the memory and the work that a rank
 * of several would have, and nothing on the wire; {@link #together} with the other ranks.
 */
public final class StepTrial {

  /**
   * Bytes that a rank sends, by the collective.
   *
   * @param reduced by all-reduces and all-to-alls
   * @param gathered by all-gathers
   * @param scattered by reduce-scatters
   * @param messages that wait for each other
   * @param ahead those of {@code gathered} that the first segment of a pass waits for: nothing is
   *     computed before it
   */
  public record Sent(
      double reduced, double gathered, double scattered, double messages, double ahead) {

    static final Sent NOTHING = new Sent(0, 0, 0, 0);

    /** Counts what no first segment waits for. */
    public Sent(double reduced, double gathered, double scattered, double messages) {
      this(reduced, gathered, scattered, messages, 0);
    }

    Sent withAhead(double bytes) {
      return new Sent(reduced, gathered, scattered, messages, Math.min(gathered, bytes));
    }

    Sent plus(Sent more) {
      return new Sent(
          reduced + more.reduced,
          gathered + more.gathered,
          scattered + more.scattered,
          messages + more.messages);
    }

    Sent since(Sent before, double times) {
      return new Sent(
          (reduced - before.reduced) / times,
          (gathered - before.gathered) / times,
          (scattered - before.scattered) / times,
          (messages - before.messages) / times);
    }
  }

  /**
   * What an update took.
   *
   * @param peakBytes the most memory that the process has had
   * @param cycles seconds of an update, with all its micro-steps, in each stretch that was timed
   * @param backward seconds of the last backward; 0 where it was not watched
   * @param firstBucket seconds of it before the first bucket was full
   * @param buckets that were exchanged; 1 where they were not counted
   * @param microSteps of an update
   * @param samples that a rank takes in a micro-step
   * @param sent by a rank for an update; nothing where ranks were not pretended
   */
  public record Result(
      long peakBytes,
      List<Double> cycles,
      double backward,
      double firstBucket,
      int buckets,
      int microSteps,
      int samples,
      Sent sent) {

    /** Checks that something was timed. */
    public Result {
      cycles = List.copyOf(cycles);
      if (cycles.isEmpty()) {
        throw new IllegalArgumentException("a trial has no cycle that was timed");
      }
    }

    /**
     * Returns what ranks of one job took: all wait for the slowest, in every cycle anew, and the
     * one that takes most memory must fit too.
     */
    public static Result ofRanks(List<Result> ranks) {
      var first = ranks.getFirst();
      int common = ranks.stream().mapToInt(it -> it.cycles.size()).min().orElseThrow();
      return new Result(
          ranks.stream().mapToLong(Result::peakBytes).max().orElseThrow(),
          IntStream.range(0, common).mapToObj(i -> largest(ranks, it -> it.cycles.get(i))).toList(),
          largest(ranks, Result::backward),
          largest(ranks, Result::firstBucket),
          first.buckets,
          first.microSteps,
          first.samples,
          first.sent);
    }

    private static double largest(List<Result> ranks, ToDoubleFunction<Result> value) {
      return ranks.stream().mapToDouble(value).max().orElseThrow();
    }

    /**
     * Returns the seconds of an update in the shortest cycle: whatever else the machine does only
     * makes it longer.
     */
    public double seconds() {
      return Collections.min(cycles);
    }

    Result withSent(Sent other) {
      return new Result(
          peakBytes, cycles, backward, firstBucket, buckets, microSteps, samples, other);
    }
  }

  /** When a trial may use the machine; what it is compared with has it in between. */
  public interface Turn {

    /** Has it always. */
    Turn ALWAYS =
        new Turn() {
          @Override
          public void begin() {}

          @Override
          public void end() {}
        };

    /** Waits for it. */
    void begin();

    /** Leaves it. */
    void end();
  }

  /**
   * How long a trial is. A step is worth timing once the JVM has compiled what it runs, which takes
   * hundreds of short steps and none of long ones: so lengths are times, with a least number of
   * updates.
   *
   * @param warmUp updates before the first that counts, at least
   * @param warmUpSeconds that they take, at least
   * @param cycles stretches that are timed, at most, of which the shortest counts
   * @param updates of a cycle, at least, and what its updates are a multiple of
   * @param cycleSeconds that a cycle takes, at least
   * @param seconds after which no other cycle begins
   */
  public record Length(
      int warmUp,
      double warmUpSeconds,
      int cycles,
      int updates,
      double cycleSeconds,
      double seconds) {

    /** Returns a length in updates alone. */
    public static Length ofUpdates(int warmUp, int cycles, int updates) {
      return new Length(warmUp, 0, cycles, updates, 0, Double.POSITIVE_INFINITY);
    }

    /** Returns one that suits the speed of the step. */
    public static Length timed(int warmUp, int cycles, int updates) {
      return new Length(warmUp, 4, cycles, updates, 0.5, 8);
    }

    /** Returns one with all cycles, however long they take: as many as what it is compared with. */
    public static Length inTurn(int warmUp, int cycles, int updates) {
      return new Length(warmUp, 4, cycles, updates, 0.5, Double.POSITIVE_INFINITY);
    }
  }

  private static final int CHUNK = 1 << 16;

  /** More than any trial makes. */
  private static final int MOST_UPDATES = 1_000_000;

  private final ConfiguredRun run;
  private final int samples;
  private final Length length;
  private final Turn turn;

  /**
   * Prepares a trial.
   *
   * @param run the recipe; for one rank where others are pretended
   * @param samples that a rank takes in a micro-step
   */
  public StepTrial(ConfiguredRun run, int samples, Length length) {
    this(run, samples, length, Turn.ALWAYS);
  }

  /** Prepares one that warms up and makes each cycle when it is its turn. */
  public StepTrial(ConfiguredRun run, int samples, Length length, Turn turn) {
    this.run = run;
    this.samples = samples;
    this.length = length;
    this.turn = turn;
  }

  /** Makes steps as one of several ranks, of which the others are pretended. */
  public Result pretending(int ranks) {
    var traffic = new PretendedTraffic(ranks);
    var result =
        measured(alone -> ranks == 1 ? alone : new PretendedRanks(alone, ranks, traffic), traffic);
    double share = (ranks - 1.0) / ranks;
    double ahead = share * elementsOfFirstSegment() * traffic.sliceWidth();
    return result.withSent(result.sent().withAhead(ahead));
  }

  /** Some of it may not be gathered; {@link Sent#withAhead} takes no more than is. */
  private long elementsOfFirstSegment() {
    var first = run.config().model().segments().getFirst();
    return first.parameters().stream().mapToLong(spec -> spec.shape().elements()).sum();
  }

  /** Makes steps together with the other ranks of the run's world, which do the same. */
  public Result together() {
    return measured(joined -> joined, new PretendedTraffic(1));
  }

  private Result measured(UnaryOperator<Collective> wrapper, PretendedTraffic traffic) {
    var config = run.config();
    var builder =
        run.describe(_ -> {})
            .schedule(new Constant())
            .nonFinite(
                config.nonFinite() == NonFinite.ROLLBACK ? NonFinite.SKIP : config.nonFinite())
            .compareNever()
            .strategy(config.techniques().toArray(Strategy[]::new))
            .collective(wrapper);
    try (var trainer = builder.build();
        var _ = TensorScope.open()) {
      trainer.plannedUpdates(MOST_UPDATES);
      var batch = config.data().train().load(chosen(config.data().train().size()));
      turn.begin();
      int microSteps = windows(trainer, batch, 1);
      int updates = warmedUp(trainer, batch);
      fillYoungGeneration();
      turn.end();
      var before = traffic.sent();
      var times = new ArrayList<Double>();
      for (double spent = 0; times.size() < length.cycles() && spent < length.seconds(); ) {
        turn.begin();
        times.add(secondsOfUpdate(trainer, batch, updates));
        spent += fromFirst(trainer, times.getLast()) * updates;
        turn.end();
      }
      double made = (double) times.size() * updates;
      return result(trainer, times, microSteps, traffic.sent().since(before, made));
    }
  }

  /** Makes updates until the step has its speed, and returns how many make a cycle. */
  private int warmedUp(Trainer trainer, Batch batch) {
    int next = length.warmUp();
    double spent = 0;
    double update;
    do {
      update = fromFirst(trainer, secondsOfUpdate(trainer, batch, next));
      spent += update * next;
      next = length.updates();
    } while (spent < length.warmUpSeconds());
    double periods = Math.ceil(length.cycleSeconds() / (update * length.updates()));
    return length.updates() * (int) Math.clamp(periods, 1, MOST_UPDATES / 1e3);
  }

  /**
   * A run fills the young generation with short-lived objects, sooner or later, and its memory
   * stays resident; a trial may end before, by chance, and would seem to take less. It is full when
   * the collector comes, which a large one may not do before half of the heap is used.
   */
  private static void fillYoungGeneration() {
    var collected = new WeakReference<>(new Object());
    long left = Runtime.getRuntime().totalMemory() / 2;
    for (; left > 0 && collected.get() != null; left -= CHUNK) {
      var garbage = new byte[CHUNK];
      try {
        garbage[0] = 1;
      } finally {
        Reference.reachabilityFence(garbage); // or the compiler may leave it out
      }
    }
  }

  private static double secondsOfUpdate(Trainer trainer, Batch batch, int updates) {
    trainer.collective().barrier();
    long start = System.nanoTime();
    windows(trainer, batch, updates);
    // What the last update has left on its way belongs to it.
    trainer.model().device().synchronize();
    return (System.nanoTime() - start) / 1e9 / updates;
  }

  /** Rank 0's clock decides for all: ranks that make other numbers of updates wait for ever. */
  private static double fromFirst(Trainer trainer, double value) {
    try (var _ = TensorScope.open()) {
      var shared = Tensors.ofDoubles(value);
      trainer.collective().broadcast(shared, 0, Traffic.SCALAR).await();
      return Tensors.toDoubles(shared)[0];
    }
  }

  private Result result(Trainer trainer, List<Double> times, int microSteps, Sent sent) {
    var exchange = map(trainer.metrics().get("exchange"));
    long peak = new PeakMeter(trainer.model().device()).peakBytes();
    int buckets = exchange.get("buckets") instanceof List<?> list ? list.size() : 1;
    return new Result(
        peak,
        times,
        number(exchange.get("backward_ms")) / 1e3,
        number(exchange.get("first_bucket_ms")) / 1e3,
        Math.max(1, buckets),
        microSteps,
        samples,
        sent);
  }

  /** Makes whole windows, and returns the number of their micro-steps. */
  private static int windows(Trainer trainer, Batch batch, int count) {
    int steps = 0;
    for (int made = 0; made < count; steps++) {
      try (var _ = TensorScope.open()) {
        made += trainer.stepNonBlocking(batch).step().isBoundary() ? 1 : 0;
      }
    }
    return steps;
  }

  /** A data set that is too small gives its samples again. */
  private int[] chosen(int size) {
    return IntStream.range(0, samples).map(i -> i % size).toArray();
  }

  private static Map<?, ?> map(@Nullable Object value) {
    return value instanceof Map<?, ?> map ? map : Map.of();
  }

  private static double number(@Nullable Object value) {
    return value instanceof Number number ? number.doubleValue() : 0;
  }
}
