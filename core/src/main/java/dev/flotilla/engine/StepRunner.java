package dev.flotilla.engine;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Totals;
import dev.flotilla.data.Batch;
import dev.flotilla.engine.Accumulation.Decision;
import dev.flotilla.engine.Claim.GradientStage;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.LossTerms;
import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Runs micro-steps; the only home of the order of phases.
 *
 * <p>Not thread-safe: one thread of a rank runs all steps.
 */
public final class StepRunner implements Stateful, AutoCloseable {

  private final BoundModel model;
  private final SegmentChain chain;
  private final Gradients gradients;
  private final ForwardBackward pass;
  private final @Nullable PooledWindow pool;
  private final Accumulation accumulation;
  private final boolean hasOwnWindows;
  private final List<GradientFilter> conditions;
  private final List<Bucket> buckets;
  private final Exchange exchange;
  private final FiniteCheck finite;
  private final List<GradientFilter> refinements;
  private final Update update;
  private final Sync sync;
  private final List<Stateful> remembering = new ArrayList<>();
  private final LongToDoubleFunction learningRate;
  private final Consumer<String> notices;

  private MicroStep step = MicroStep.NONE;
  private long updates;
  private FirstSteps firstSteps = FirstSteps.GRADIENTS_UNBOUND;

  private static final Accumulation UNENDING = (_, _, _) -> Decision.CONTINUE;

  /** What remains to be checked once, in the first backward passes. */
  private enum FirstSteps {
    GRADIENTS_UNBOUND,
    PLACE_UNCHECKED,
    DONE
  }

  /**
   * Builds the workers of a plan.
   *
   * @param learningRate the learning rate after a number of updates
   */
  public StepRunner(
      StepPlan plan, StepContext context, SegmentChain chain, LongToDoubleFunction learningRate) {
    this.model = context.model();
    this.chain = chain;
    this.gradients = model.arena().gradients();
    this.learningRate = learningRate;
    this.notices = context.notices();
    plan.owner(Claim.Retain.class).ifPresent(c -> chain.retention(c.worker().apply(context)));
    pool =
        plan.owner(Claim.Pool.class)
            .filter(_ -> model.buffers().hasStatistics())
            .map(c -> new PooledWindow(c, plan, chain, context))
            .orElse(null);
    ForwardBackward innermost = pool == null ? chain : pool.pass();
    for (var layer : plan.chain(Claim.Forward.class).reversed()) {
      innermost = layer.worker().apply(context).around(innermost);
    }
    pass = innermost;
    accumulation =
        plan.owner(Claim.Accumulate.class)
            .map(c -> c.worker().apply(context))
            .orElse(Accumulation.NONE);
    hasOwnWindows = plan.owner(Claim.Accumulate.class).isPresent();
    conditions =
        plan.chain(Claim.Condition.class).stream().map(c -> c.worker().apply(context)).toList();
    buckets =
        plan.owner(Claim.Buckets.class)
            .map(c -> c.worker().apply(context))
            .orElse(BucketPlan.WHOLE)
            .buckets(model.arena().layout());
    exchange =
        plan.owner(Claim.Share.class)
            .map(c -> c.worker().apply(context))
            .orElseGet(() -> new DenseExchange(context.collective()));
    finite = new FiniteCheck(context.collective());
    refinements = refinements(plan.chain(Claim.Refine.class), context);
    update =
        plan.owner(Claim.Apply.class)
            .map(c -> c.worker().apply(context))
            .orElseGet(context.update());
    sync = plan.owner(Claim.Follow.class).map(c -> c.worker().apply(context)).orElse(Sync.NONE);
    conditions.forEach(filter -> remembering.add(filter::remember));
    remembering.add(exchange::remember);
    refinements.forEach(filter -> remembering.add(filter::remember));
    remembering.add(update);
    remembering.add(sync::remember);
  }

  /** Nothing infinite reaches the update; a technique that votes itself is in charge of that. */
  private List<GradientFilter> refinements(List<Claim.Refine> claims, StepContext context) {
    List<GradientFilter> filters = new ArrayList<>();
    boolean isChecked = claims.stream().anyMatch(claim -> claim.stage() == GradientStage.VOTE);
    for (var claim : claims) {
      if (!isChecked && claim.stage().compareTo(GradientStage.VOTE) > 0) {
        filters.add(finite);
        isChecked = true;
      }
      filters.add(claim.worker().apply(context));
    }
    if (!isChecked) {
      filters.add(finite);
    }
    return filters;
  }

  /** Returns what techniques have to say in the run's summary. */
  public Map<String, Object> figures() {
    Map<String, Object> figures = new LinkedHashMap<>(chain.figures());
    conditions.forEach(filter -> figures.putAll(filter.figures()));
    refinements.forEach(filter -> figures.putAll(filter.figures()));
    return figures;
  }

  /** Returns the number of updates made. */
  public long updates() {
    return updates;
  }

  /** Returns the number of micro-steps made. */
  public long microSteps() {
    return step.index() + 1;
  }

  /** Returns the micro-steps of a full window that follows so many updates. */
  public int microStepsAfter(long updatesMade) {
    return accumulation.microSteps(updatesMade);
  }

  /** Returns how many updates epochs of so many micro-steps make. */
  public UpdateCount updateCount(long microStepsPerEpoch) {
    return new UpdateCount(accumulation, microStepsPerEpoch);
  }

  /** Runs one micro-batch; all ranks call it equally often, also with an empty batch. */
  public StepOutcome step(Batch batch, boolean lastOfEpoch) {
    step = step.next(accumulation, lastOfEpoch, updates);
    int microSteps = step.inWindow() + 1;
    if (lastOfEpoch && accumulation.after(microSteps, false, updates) == Decision.CONTINUE) {
      accumulation.epochEndedInside(microSteps, updates);
    }
    addGradients(batch);
    return switch (step.decision()) {
      case CONTINUE -> new StepOutcome(step, gradients.totals());
      case UPDATE -> finishWindow();
      case DISCARD -> discardWindow();
    };
  }

  /** Runs one micro-batch of a window that a loop of the user's own will end. */
  public Totals accumulate(Batch batch) {
    step = step.next(UNENDING, false, updates);
    addGradients(batch);
    return gradients.totals();
  }

  /** Adds the gradient of a loss that a loop of the user's own has computed. */
  public Totals accumulate(LossTerms loss) {
    step = step.next(UNENDING, false, updates);
    backward(List.of(loss));
    gradients.sealTotals();
    return gradients.totals();
  }

  /** Ends the window of a loop of the user's own with an exchange and an update. */
  public StepOutcome update() {
    step = step.asBoundary();
    if (pool != null && pool.isWaiting()) {
      runPool(pool);
    }
    gradients.sealTotals();
    return finishWindow();
  }

  /** Throws away the gradients of the window so far. */
  public void clear() {
    step = step.asBoundary();
    if (pool != null) {
      pool.clear();
    }
    gradients.clear();
  }

  /** Tells whether a technique decides where windows end. */
  public boolean hasOwnWindows() {
    return hasOwnWindows;
  }

  private void addGradients(Batch batch) {
    if (pool != null) {
      pool.add(batch);
      if (pool.isReady(step)) {
        runPool(pool);
      }
    } else if (!batch.isEmpty()) {
      run(List.of(batch));
    }
    gradients.sealTotals();
  }

  private void run(List<Batch> batches) {
    try (var _ = TensorScope.open()) {
      backward(pass.forward(batches, step));
    }
  }

  private void runPool(PooledWindow window) {
    try {
      run(window.batches());
    } finally {
      window.clear();
    }
  }

  private StepOutcome discardWindow() {
    var totals = gradients.totals();
    if (pool != null) {
      pool.clear();
    }
    gradients.clear();
    return new StepOutcome(step, totals);
  }

  private StepOutcome finishWindow() {
    finite.beforeExchange(gradients);
    boolean proceed = apply(conditions);
    // Conditions say the same on all ranks, so that all of them leave the exchange out together.
    Totals totals = proceed ? exchange.exchange(gradients, buckets) : gradients.totals();
    if (totals.count() == 0) {
      notices.accept("update skipped: no rank had a loss term in window " + updates);
      proceed = false;
    }
    if (proceed) {
      gradients.scale(accumulation.factor(step.inWindow() + 1) / totals.count());
      proceed = apply(refinements);
    }
    double lr = learningRate.applyAsDouble(updates);
    if (proceed) {
      update.apply(lr);
      updates++;
    }
    sync.afterWindow(step);
    gradients.clear();
    return new StepOutcome(step, proceed, totals, proceed ? lr : 0, finite.finding());
  }

  private boolean apply(List<GradientFilter> filters) {
    for (var filter : filters) {
      if (!filter.apply(gradients, step)) {
        return false;
      }
    }
    return true;
  }

  private void backward(List<LossTerms> losses) {
    losses.forEach(StepRunner::requireTerms);
    if (losses.isEmpty()) {
      pass.backward(losses, step);
      return;
    }
    switch (firstSteps) {
      case GRADIENTS_UNBOUND -> {
        nameUnused(model.arena().bindGradientsAfter(() -> pass.backward(losses, step)));
        firstSteps = FirstSteps.PLACE_UNCHECKED;
      }
      case PLACE_UNCHECKED -> {
        pass.backward(losses, step);
        model.arena().requireGradientsInPlace();
        firstSteps = FirstSteps.DONE;
      }
      case DONE -> pass.backward(losses, step);
    }
    losses.forEach(loss -> gradients.addLoss(loss.sum(), loss.count()));
  }

  private static void requireTerms(LossTerms loss) {
    if (loss.count() == 0 && loss.sum().item_double() != 0) {
      throw new IllegalStateException(
          "the loss is not zero but states no terms: give LossTerms the number it sums over");
    }
  }

  private void nameUnused(List<String> unused) {
    if (!unused.isEmpty()) {
      notices.accept("not reached by backward, exchanged as zeros: " + String.join(", ", unused));
    }
  }

  @Override
  public void remember(RunState state) {
    var shared = state.shared().part("step");
    step = step.remembered(shared);
    updates = shared.number("updates", updates);
    rememberWindow(state);
    remembering.forEach(worker -> worker.remember(state));
  }

  private void rememberWindow(RunState state) {
    if (!step.endsWindow()) {
      gradients.remember(state.summed().part("window"));
      if (pool != null) {
        pool.remember(state);
      }
    } else if (!state.isSaving()) {
      gradients.clear();
    }
  }

  @Override
  public void close() {
    update.close();
  }
}
