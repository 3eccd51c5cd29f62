package dev.flotilla.exchange;

import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.arena.Totals;
import dev.flotilla.state.RunState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Brings the buckets of an accumulation window to the exchange, each as soon as its gradients are
 * complete, and makes their sum a mean.
 *
 * <p>A window begins, once or several times over, is perhaps left, and is finished otherwise.
 * Buckets are reduced in the plan's order whatever the order of arrival, so that all ranks issue
 * the same collectives; a rank whose backward cannot be watched reduces them all after it.
 */
public final class WindowExchange implements AutoCloseable {

  private static final int BACKLOG = 3;

  private final Exchange exchange;
  private final BucketPlan plan;
  private final Optional<GradientSlices> slices;
  private final Gradients gradients;
  private final boolean leavesUnjudged;
  private final ToDoubleFunction<Totals> mean;
  private final List<ExchangeThread> threads = new ArrayList<>();
  private final Executor starts;
  private final Executor arrivals;
  private final ExchangeRecord record = new ExchangeRecord();
  private final @Nullable ArrivalWatch watch;
  private @Nullable OpenWindow window;

  /**
   * Prepares windows.
   *
   * @param slices how gradients are shared out, where not every rank gets all of them
   * @param isAlone whether there is no other rank, so that nothing takes time
   * @param isUnfiltered whether no filter judges or changes gradients, and the run ends with the
   *     first one that is not finite
   * @param mean hears the totals of a window with at least one term as soon as they are known, and
   *     gives what makes the sum a mean
   */
  public WindowExchange(
      Exchange exchange,
      BucketPlan plan,
      Optional<GradientSlices> slices,
      ParameterArena arena,
      boolean isAlone,
      boolean isUnfiltered,
      ToDoubleFunction<Totals> mean,
      Consumer<String> notices) {
    this.exchange = exchange;
    this.plan = plan;
    this.slices = slices;
    this.gradients = arena.gradients();
    this.mean = mean;
    var direct = new InTurn();
    starts = isAlone ? direct : thread("flotilla-exchange");
    arrivals = isAlone ? direct : thread("flotilla-arrivals");
    boolean overlaps = !isAlone && plan.overlapsBackward();
    leavesUnjudged = overlaps && isUnfiltered;
    watch = overlaps ? new ArrivalWatch(arena, this::bucketIsComplete, notices) : null;
  }

  private Executor thread(String name) {
    var thread = new ExchangeThread(name);
    threads.add(thread);
    return thread;
  }

  /**
   * Tells whether filters come before the buckets of this window are reduced, and not after: what a
   * rank keeps must have been judged and limited before. All ranks say the same.
   */
  public boolean judgesFirst() {
    return exchange.feedback().isPresent() && !leavesUnjudged;
  }

  /** Tells whether an accumulation window has begun, and not a micro-step of it alone. */
  public boolean isBegun() {
    return window != null && window.isWhole();
  }

  /**
   * Runs the backward of a micro-step, and reduces what it completes if the window ends with it.
   *
   * @param graph what backward runs through; another one may reach parameters another number of
   *     times
   * @param mayLeave whether nothing stands between backward and exchange, the same on all ranks
   * @param begins whether the window ends here too; otherwise only gradients that are reduced at
   *     once leave
   */
  public void during(Runnable backward, Object graph, boolean mayLeave, boolean begins) {
    if (watch == null) {
      backward.run();
      return;
    }
    boolean leaves = mayLeave && (begins || reducesEachMicroStep()) && watch.expects(graph);
    if (leaves && window == null) {
      window = newWindow(begins);
    }
    watch.during(
        backward,
        graph,
        leaves && window != null && !window.hasNothingToReduce() ? window.buckets() : List.of());
  }

  private void bucketIsComplete() {
    if (window != null) {
      window.pipeline().bucketIsComplete();
      if (reducesEachMicroStep()) {
        // Gradients are freed when they have left: backward must not run far ahead of the network.
        window.pipeline().awaitBacklog(BACKLOG);
      }
    }
  }

  /**
   * Begins a window, if it has not begun. With error feedback, ranks agree on its totals here, so
   * that filters can come next.
   */
  public void begin() {
    if (window == null) {
      window = newWindow(true);
    } else if (!window.isWhole()) {
      // Its buckets first: ranks come to what begins a window in one order.
      window.pipeline().finish();
      window.pipeline().run(() -> exchange.begin(gradients));
      window = window.asWhole();
    }
  }

  /**
   * Prepares to reduce what a micro-step has added before its window begins to end. Ranks whose
   * gradients have left in backward reduce in this order, so the others have to as well: those
   * without a batch, and those whose backward was not watched.
   */
  public void beginMicroStep() {
    if (reducesEachMicroStep() && window == null) {
      window = newWindow(false);
    }
  }

  /**
   * Reduces what a micro-step has added before its window ends, where that is what slices want; all
   * ranks call it together, also those whose batch was empty.
   */
  public void endMicroStep() {
    if (reducesEachMicroStep()) {
      beginMicroStep();
      Objects.requireNonNull(window).pipeline().finish();
      window = null;
    }
  }

  /** Tells whether micro-steps exchange, and not only windows. */
  public boolean reducesEachMicroStep() {
    return slices.filter(GradientSlices::reducesEachMicroStep).isPresent();
  }

  private OpenWindow newWindow(boolean endsWindow) {
    var buckets = slices.map(it -> it.cut(plan.buckets())).orElseGet(plan::buckets);
    var feedback = exchange.feedback();
    var pipeline =
        new BucketPipeline(
            buckets,
            bucket -> {
              feedback.ifPresent(it -> it.look(gradients, bucket));
              return exchange.reduce(gradients, bucket);
            },
            starts,
            arrivals);
    if (feedback.isEmpty()) {
      if (endsWindow) {
        pipeline.run(() -> exchange.begin(gradients));
      }
      return new OpenWindow(buckets, pipeline, feedback, Optional.empty(), endsWindow);
    }
    var totals = agree(pipeline, feedback.get());
    return new OpenWindow(buckets, pipeline, feedback, Optional.of(totals), true);
  }

  private Totals agree(BucketPipeline pipeline, ErrorFeedback feedback) {
    pipeline.call(
        () -> {
          feedback.agree(gradients, leavesUnjudged);
          exchange.begin(gradients);
        });
    var totals = gradients.totals();
    if (totals.count() > 0) {
      feedback.view(gradients).scale(mean.applyAsDouble(totals));
    }
    return totals;
  }

  /** Returns the gradients of this window as filters see them. */
  public GradientView view() {
    return Optional.ofNullable(window)
        .flatMap(OpenWindow::feedback)
        .map(feedback -> feedback.view(gradients))
        .or(() -> slices.map(GradientSlices::view))
        .orElseGet(() -> GradientView.of(gradients));
  }

  /** Reduces nothing more of a window. */
  public void leave() {
    window = null;
  }

  /**
   * Reduces what has not been reduced yet, and waits for all of it; the gradients are then the mean
   * over ranks, and the window goes on to be in view until it is left.
   *
   * @return the totals of all ranks
   */
  public Totals finish() {
    begin();
    var current = Objects.requireNonNull(window);
    if (current.hasNothingToReduce()) {
      return current.agreed().orElseThrow();
    }
    var event = new ExchangeEvent();
    event.begin();
    var totals = current.reduce(exchange, gradients);
    var times = ExchangeTimes.of(current.pipeline().times(), Optional.ofNullable(watch));
    if (event.shouldCommit()) {
      event.end(times, gradients.layout().precision().bytes());
    }
    observe(times);
    if (current.feedback().isEmpty() && totals.count() > 0) {
      view().scale(mean.applyAsDouble(totals));
    }
    return totals;
  }

  private void observe(ExchangeTimes seen) {
    record.add(seen);
    plan.observed(seen);
    exchange.observed(seen);
  }

  /** Saves, or restores, what exchange and buckets remember. */
  public void remember(RunState state) {
    exchange.remember(state);
    plan.remember(state);
  }

  /** Returns for how long buckets were reduced while backward went on, in nanoseconds. */
  public long hiddenNanos() {
    return record.hidden();
  }

  /** Returns which share of the gradients ranks have sent in the last window, where not all. */
  public OptionalDouble density() {
    return exchange.feedback().map(ErrorFeedback::density).orElse(OptionalDouble.empty());
  }

  /** Returns what the run's summary should say. */
  public Map<String, Object> metrics() {
    Map<String, Object> metrics = new LinkedHashMap<>(record.metrics());
    metrics.putAll(plan.metrics());
    metrics.putAll(exchange.metrics());
    return metrics;
  }

  @Override
  public void close() {
    threads.forEach(ExchangeThread::close);
    Optional.ofNullable(watch).ifPresent(ArrivalWatch::close);
    exchange.close();
  }
}
