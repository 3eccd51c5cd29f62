package dev.flotilla.step;

import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Totals;
import dev.flotilla.collective.Collective;
import dev.flotilla.data.Batch;
import dev.flotilla.memory.KernelChoices;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.LossTerms;
import dev.flotilla.pass.Accumulation;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.ForwardBackward;
import dev.flotilla.pass.MicroStep;
import dev.flotilla.pass.ParameterGate;
import dev.flotilla.pass.RecordedPasses;
import dev.flotilla.pass.SegmentChain;
import dev.flotilla.state.RunState;
import dev.flotilla.state.State;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Adds the gradients of micro-batches to the window's sums: the phase FORWARD, with what it holds
 * back until a window is complete.
 */
final class GradientPasses {

  private final BoundModel model;
  private final Gradients gradients;
  private final SegmentChain chain;
  private final @Nullable PooledWindow pool;
  private final @Nullable Division division;
  private final ForwardBackward pass;
  private final Consumer<String> notices;
  private final MicroStepExchange exchange;
  private final StepClock clock;
  private final boolean isAlone;
  private final Runnable deciding;
  private final Runnable telling;
  private final RecordedPasses recorded;
  private final Whole whole = new Whole();
  private FirstPasses firstPasses = FirstPasses.GRADIENTS_UNBOUND;

  /** What remains to be checked once, in the first backward passes. */
  private enum FirstPasses {
    GRADIENTS_UNBOUND,
    PLACE_UNCHECKED,
    DONE
  }

  /**
   * Puts the passes together.
   *
   * @param exchange runs backward passes, and may reduce gradients that are complete
   * @param deciding called before each backward: what the last update has left open is decided
   * @param telling called after that, as soon as the device has something else to do: tells of it
   */
  GradientPasses(
      Workers workers,
      StepContext context,
      SegmentChain chain,
      MicroStepExchange exchange,
      Runnable deciding,
      Runnable telling) {
    this.exchange = exchange;
    this.deciding = deciding;
    this.telling = telling;
    this.clock = exchange.clock();
    this.isAlone = context.collective().size() == 1 && context.model().device().isCuda();
    this.model = context.model();
    this.gradients = model.arena().gradients();
    this.chain = chain;
    this.notices = context.notices();
    workers.checkpointing().ifPresent(chain::checkpointing);
    pool =
        workers
            .poolsOverWindow()
            .filter(_ -> model.buffers().hasStatistics())
            .map(
                isOver ->
                    new PooledWindow(
                        isOver,
                        workers.checkpointing().isEmpty(),
                        chain,
                        context.model(),
                        groupOf(workers, context)))
            .orElse(null);
    division = model.objective().parts().map(it -> new Division(it, context.peers())).orElse(null);
    ForwardBackward innermost = pool == null ? chain : pool.pass();
    for (var layer : workers.layers().reversed()) {
      innermost = layer.around(innermost);
    }
    pass = innermost;
    recorded = RecordedPasses.of(chain, context.collective().size(), isPlain());
  }

  /** Techniques around passes, and what gathers batches or parameters, may count in the host. */
  private boolean isPlain() {
    return pass.isRepeated()
        && division == null
        && ParameterGate.OPEN.equals(model.gate())
        && gradients.kept().isEmpty()
        && !model.arena().isHalf();
  }

  /**
   * Statistics are exchanged by the thread that trains. Where another one reduces gradients at the
   * same time, that takes a group of its own: in one group, ranks would come to the collectives of
   * both in different orders.
   */
  private static Collective groupOf(Workers workers, StepContext context) {
    var all = context.collective();
    boolean isShared = workers.buckets(context.arena().layout()).overlapsBackward();
    return isShared && all.size() > 1
        ? all.subgroup(IntStream.range(0, all.size()).toArray())
        : all;
  }

  /** Takes a micro-batch; its gradients are there at the end of the window at the latest. */
  void add(Batch batch, MicroStep step) {
    if (division != null && !isPooledOverWindow()) {
      division.hold(batch);
      if (step.decision() == Accumulation.Decision.UPDATE) {
        runHeld(division, step);
      }
    } else if (pool != null) {
      pool.add(batch);
      if (!pool.isOverWindow() || step.decision() == Accumulation.Decision.UPDATE) {
        runPool(pool, step);
      }
    } else if (!batch.isEmpty()) {
      run(List.of(batch), step);
    } else {
      model.gate().passWithoutBatch();
    }
  }

  /** Takes a loss that a loop of the user's own has computed. */
  void add(LossTerms loss, MicroStep step) {
    backward(List.of(loss), step);
  }

  /** Tells whether batches wait for the end of their window. */
  boolean holdsBatches() {
    return division != null || isPooledOverWindow();
  }

  private boolean isPooledOverWindow() {
    return pool != null && pool.isOverWindow();
  }

  /**
   * Runs the batches that wait, where no micro-batch has told the end of the window; all ranks call
   * it together.
   */
  void complete(MicroStep step) {
    // Also without a batch: other ranks wait for this one's part in statistics and divisors.
    if (isPooledOverWindow()) {
      runPool(Objects.requireNonNull(pool), step);
    } else {
      runHeld(Objects.requireNonNull(division), step);
    }
  }

  /** Runs the batches of a window one after the other, once it is known what divides their loss. */
  private void runHeld(Division window, MicroStep last) {
    var batches = window.batches();
    try {
      int rounds = window.rounds(batches);
      chain.divideBy(window.over(batches));
      for (int i = 0; i < rounds; i++) {
        var step = last.before(rounds - 1 - i);
        runHeld(i < batches.size() ? List.of(batches.get(i)) : List.of(), step);
        if (!step.isBoundary()) {
          exchange.end(step);
        }
      }
    } finally {
      chain.divideBy(null);
      window.clear();
    }
  }

  private void runHeld(List<Batch> batches, MicroStep step) {
    if (batches.isEmpty() && pool == null) {
      model.gate().passWithoutBatch();
      return;
    }
    try {
      run(batches, step);
    } finally {
      if (pool != null) {
        pool.clear();
      }
    }
  }

  private void runPool(PooledWindow window, MicroStep step) {
    try {
      if (division != null) {
        chain.divideBy(division.over(window.batches()));
      }
      run(window.batches(), step);
    } finally {
      chain.divideBy(null);
      window.clear();
    }
  }

  private void run(List<Batch> batches, MicroStep step) {
    if (firstPasses == FirstPasses.DONE && batches.size() == 1) {
      recorded.run(batches.getFirst(), step, whole);
    } else {
      runNow(batches, step);
    }
  }

  /** Passes that may be recorded. */
  private final class Whole implements RecordedPasses.Passes {

    private long start;

    @Override
    public void run(Batch batch, MicroStep step) {
      runNow(List.of(batch), step);
    }

    @Override
    public List<Object> begin() {
      deciding.run();
      start = StepClock.now();
      return List.of(model.arena().address(), gradients.isStale());
    }

    @Override
    public long start(Batch batch, MicroStep step) {
      boolean wasStale = gradients.isStale();
      try (var _ = TensorScope.open()) {
        var losses = pass.forward(List.of(batch), step);
        losses.forEach(GradientPasses::requireTerms);
        losses.forEach(loss -> gradients.addLossSum(loss.sum()));
        model.arena().leaves().addAfter(() -> backwardCollected(losses, step));
        return losses.stream().mapToLong(LossTerms::count).sum();
      } finally {
        // What was recorded has replaced nothing yet.
        gradients.stale(wasStale);
      }
    }

    @Override
    public void repeated(long terms) {
      gradients.replayed(terms);
      clock.forwardSince(start);
      telling.run();
    }
  }

  private void runNow(List<Batch> batches, MicroStep step) {
    try (var _ = TensorScope.open()) {
      long start = StepClock.now();
      var losses = pass.forward(batches, step);
      clock.forwardSince(start);
      backward(losses, step);
    }
  }

  private void backward(List<LossTerms> losses, MicroStep step) {
    long start = StepClock.now();
    addGradients(losses, step);
    clock.backwardSince(start);
  }

  private void addGradients(List<LossTerms> losses, MicroStep step) {
    deciding.run();
    telling.run();
    losses.forEach(GradientPasses::requireTerms);
    if (losses.isEmpty()) {
      pass.backward(losses, step);
      return;
    }
    // Totals first: an exchange may begin while backward goes on.
    losses.forEach(loss -> gradients.addLoss(loss.sum(), loss.count()));
    gradients.sealTotals();
    switch (firstPasses) {
      case GRADIENTS_UNBOUND -> {
        nameUnused(model.arena().leaves().bindAfter(() -> pass.backward(losses, step)));
        firstPasses = FirstPasses.PLACE_UNCHECKED;
      }
      case PLACE_UNCHECKED -> {
        if (isAlone || gradients.kept().isPresent() || model.arena().isHalf()) {
          backwardWatched(losses, step);
        } else {
          gradients.settle();
          pass.backward(losses, step);
          model.arena().leaves().requireInPlace();
        }
        firstPasses = FirstPasses.DONE;
      }
      case DONE -> backwardWatched(losses, step);
    }
  }

  private void backwardWatched(List<LossTerms> losses, MicroStep step) {
    Runnable backward = () -> backwardCollected(losses, step);
    if (isAlone && gradients.kept().isEmpty()) {
      // They take the place of what is there.
      model.arena().leaves().addAfter(backward);
    } else {
      gradients.settle();
      // Each of several batches gives a parameter a gradient of its own.
      exchange.duringBackward(backward, step, List.of(chain.spans(), losses.size()));
    }
  }

  /** What has not been collected on its arrival is now. */
  private void backwardCollected(List<LossTerms> losses, MicroStep step) {
    pass.backward(losses, step);
    var arena = model.arena();
    if (arena.leaves().collects() && !isAlone) {
      arena.layout().slots().forEach(arena.leaves()::collect);
    }
  }

  private static void requireTerms(LossTerms loss) {
    if (loss.count() == 0 && loss.sum().item_double() != 0) {
      throw new IllegalStateException(
          "the loss is not zero but states no terms: give LossTerms the number it sums over");
    }
  }

  private void nameUnused(List<String> unused) {
    if (!unused.isEmpty()) {
      notices.accept(
          "not reached by backward, so exchanged as zeros and not updated: "
              + String.join(", ", unused));
    }
  }

  /** Returns this rank's totals of the window so far. */
  Totals totals() {
    return gradients.ownTotals();
  }

  /** Returns the totals of the window, this rank's or those that ranks have agreed on. */
  Totals windowTotals() {
    return gradients.totals();
  }

  /** Throws away what a pass that has failed left behind. */
  void abandon() {
    chain.abandon();
  }

  /** Throws away what the window holds so far. */
  void clear() {
    if (pool != null) {
      pool.clear();
    }
    if (division != null) {
      division.clear();
    }
    model.arena().leaves().dropAll();
    gradients.clear();
  }

  /**
   * Puts down, or takes up, a window that has not ended.
   *
   * @param sums what the window's sums belong to
   */
  void remember(RunState state, State sums) {
    gradients.remember(sums.part("window"));
    if (division != null && !isPooledOverWindow()) {
      division.remember(state);
    } else if (pool != null) {
      pool.remember(state);
    }
  }

  /** Frees what was recorded. */
  void close() {
    recorded.close();
  }

  /** Returns what the run's summary should say. */
  Map<String, Object> metrics() {
    Map<String, Object> metrics = new LinkedHashMap<>(chain.metrics());
    var kernels = KernelChoices.made();
    if (model.device().isCuda() && !kernels.isEmpty()) {
      metrics.put("kernels", kernels);
    }
    if (model.device().isCuda()) {
      metrics.put("recorded", recorded.summary());
    }
    return metrics;
  }
}
