package dev.flotilla.exchange;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.arena.Totals;
import dev.flotilla.collective.Pending;
import dev.flotilla.exchange.ExchangeTimes.BucketTime;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.RunState;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Brings the buckets of a window to the exchange, each as soon as its gradients are complete.
 *
 * <p>Buckets are shared in the plan's order whatever the order of arrival, so that all ranks issue
 * the same collectives; a rank whose backward cannot be watched shares them all after it.
 */
public final class WindowExchange implements AutoCloseable {

  private final Exchange exchange;
  private final BucketPlan plan;
  private final Gradients gradients;

  /** More would only take bandwidth from each other, and from the one that is needed first. */
  private static final int UNDER_WAY = 2;

  private final @Nullable ExchangeThread thread;
  private final @Nullable ExchangeThread arrivals;
  private final Semaphore mayLeave = new Semaphore(UNDER_WAY);
  private final ExchangeRecord record;
  private final @Nullable ArrivalWatch watch;
  private final AtomicReference<Totals> totals = new AtomicReference<>();
  private final List<BucketTime> times = new ArrayList<>();
  private List<Bucket> buckets = List.of();
  private int next;
  private boolean isBegun;

  /**
   * Prepares windows.
   *
   * @param isAlone whether there is no other rank, so that nothing takes time
   */
  public WindowExchange(
      Exchange exchange,
      BucketPlan plan,
      ParameterArena arena,
      boolean isAlone,
      Consumer<String> notices) {
    this.exchange = exchange;
    this.plan = plan;
    this.gradients = arena.gradients();
    this.record = new ExchangeRecord();
    thread = isAlone ? null : new ExchangeThread("flotilla-exchange");
    arrivals = isAlone ? null : new ExchangeThread("flotilla-arrivals");
    boolean overlaps = !isAlone && plan.overlapsBackward();
    watch = overlaps ? new ArrivalWatch(arena, this::share, notices) : null;
  }

  /**
   * Runs the backward of a micro-step, and shares what it completes if the window ends with it.
   *
   * @param graph what backward runs through; another one may reach parameters another number of
   *     times
   * @param begins whether the window ends here and nothing stands between backward and exchange
   */
  public void during(Runnable backward, Object graph, boolean begins) {
    if (watch == null) {
      backward.run();
      return;
    }
    boolean isKnown = watch.expects(graph);
    if (begins && isKnown && !isBegun) {
      begin();
    }
    watch.during(backward, graph, begins && isKnown ? buckets : List.of());
  }

  /** Tells whether buckets are under way already. */
  public boolean isBegun() {
    return isBegun;
  }

  /** Tells whether gradients are judged before they are shared. */
  public boolean keepsResiduals() {
    return exchange.keepsResiduals();
  }

  /** Tells whether buckets that keep residuals may leave while backward goes on. */
  public boolean sharesEarly() {
    return exchange.sharesEarly();
  }

  /** Shares the totals before all else; the window is then finished or left. */
  public Totals agree() {
    begin();
    await();
    return gradients.totals();
  }

  /** Shares nothing of a window that has begun. */
  public void leave() {
    isBegun = false;
  }

  private void begin() {
    isBegun = true;
    buckets = plan.buckets();
    next = 0;
    times.clear();
    run(() -> exchange.begin(gradients));
  }

  /** Shares the next bucket of the plan. */
  private void share() {
    var bucket = buckets.get(next++);
    run(
        () -> {
          mayLeave.acquireUninterruptibly();
          long start = System.nanoTime();
          Pending pending = start(bucket);
          arrive(
              () -> {
                try {
                  pending.await();
                } finally {
                  mayLeave.release();
                }
                times.add(new BucketTime(bucket, start, System.nanoTime()));
              });
        });
  }

  private Pending start(Bucket bucket) {
    try (var _ = TensorScope.open()) {
      return exchange.share(gradients, bucket);
    } catch (RuntimeException | Error failure) {
      mayLeave.release();
      throw failure;
    }
  }

  /** Shares what has not been shared yet, and waits for all of it. */
  public Totals finish() {
    if (!isBegun) {
      begin();
    }
    while (next < buckets.size()) {
      share();
    }
    run(this::end);
    try {
      await();
    } finally {
      isBegun = false;
    }
    var seen = observed();
    record.add(seen);
    plan.observed(seen);
    exchange.observed(seen);
    return totals.get();
  }

  private void end() {
    if (arrivals != null) {
      arrivals.await();
    }
    totals.set(exchange.end(gradients));
    // What the last bucket has left under way came to its end here.
    var last = times.removeLast();
    times.add(new BucketTime(last.bucket(), last.start(), System.nanoTime()));
  }

  private void arrive(Runnable task) {
    if (arrivals == null) {
      task.run();
    } else {
      arrivals.add(task);
    }
  }

  private void run(Runnable task) {
    if (thread == null) {
      task.run();
    } else {
      thread.add(task);
    }
  }

  private void await() {
    if (thread != null) {
      thread.await();
    }
  }

  private ExchangeTimes observed() {
    long end = System.nanoTime();
    return watch == null
        ? new ExchangeTimes(List.of(), 0, 0, List.copyOf(times), end)
        : new ExchangeTimes(
            Arrays.stream(watch.arrivals()).boxed().toList(),
            watch.start(),
            watch.end(),
            List.copyOf(times),
            end);
  }

  public void remember(RunState state) {
    exchange.remember(state);
    plan.remember(state);
  }

  public Map<String, Object> metrics() {
    Map<String, Object> metrics = new LinkedHashMap<>(record.metrics());
    metrics.putAll(plan.metrics());
    metrics.putAll(exchange.metrics());
    return metrics;
  }

  @Override
  public void close() {
    Optional.ofNullable(thread).ifPresent(ExchangeThread::close);
    Optional.ofNullable(arrivals).ifPresent(ExchangeThread::close);
    Optional.ofNullable(watch).ifPresent(ArrivalWatch::close);
    exchange.close();
  }
}
