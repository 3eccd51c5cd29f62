package dev.flotilla.train;

import dev.flotilla.arena.Totals;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.data.EpochSource;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.step.MicroSteps;
import dev.flotilla.step.StepOutcome;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** Trains with a learning rate that grows from update to update, until the loss does too. */
final class LearningRateSearch {

  private static final double SMOOTHING = 0.9;
  private static final double DIVERGED = 4;

  private final TrainerParts parts;
  private final MicroSteps steps;
  private final LearningRate rate;
  private final LearningRateRange range;
  private final List<LearningRates.Point> points = new ArrayList<>();
  private double average;
  private double lowest = Double.POSITIVE_INFINITY;
  private boolean hasDiverged;
  private boolean hasUpdates = true;

  LearningRateSearch(TrainerParts parts, LearningRateRange range) {
    this.parts = parts;
    this.steps = parts.steps();
    this.rate = parts.learningRate();
    this.range = range;
  }

  /** Searches, and puts everything back; all ranks call it together, between two updates. */
  LearningRates run(EpochSource source) {
    if (!steps.isBetweenWindows()) {
      throw new IllegalStateException(
          "an accumulation window is open: look for a learning rate before it, or after its"
              + " update");
    }
    try (var before = new StateCopy(parts.learned())) {
      var found = search(source);
      if (!steps.isBetweenWindows()) {
        steps.clear();
      }
      before.putBack(parts.learned());
      return found;
    }
  }

  private LearningRates search(EpochSource source) {
    parts.chain().score(false);
    for (long epoch = 0; !isDone(); epoch++) {
      if (!hasUpdates) {
        throw new ConfigException(
            "batch", "no update is ever made: an epoch does not fill an accumulation window");
      }
      hasUpdates = false;
      runEpoch(source, epoch);
    }
    return new LearningRates(points, hasDiverged);
  }

  private void runEpoch(EpochSource source, long epoch) {
    var collective = parts.collective();
    var shard = source.epoch(epoch, collective.rank(), collective.size());
    try (var loader = shard.loader().pinned(parts.model().device().isCuda())) {
      for (long i = 0; !isDone() && shard.has(i); i++) {
        rate.changeBase(range.at(points.size()), steps.updates());
        try (var _ = TensorScope.open()) {
          see(steps.step(loader.load(i), shard.isLast(i)));
        }
      }
    }
  }

  private boolean isDone() {
    return hasDiverged || points.size() == range.updates();
  }

  private void see(StepOutcome outcome) {
    if (!outcome.step().isBoundary()) {
      return;
    }
    hasUpdates = true;
    var totals = overRanks(outcome);
    boolean isFinite = outcome.notFinite().isEmpty() && Double.isFinite(totals.lossSum());
    if (!isFinite) {
      hasDiverged = true;
    } else if (outcome.updated() && totals.count() > 0) {
      add(totals.meanLoss());
    }
  }

  private void add(double loss) {
    average = SMOOTHING * average + (1 - SMOOTHING) * loss;
    double smoothed = average / (1 - Math.pow(SMOOTHING, points.size() + 1.0));
    points.add(new LearningRates.Point(range.at(points.size()), loss, smoothed));
    lowest = Math.min(lowest, smoothed);
    hasDiverged = smoothed - lowest > (DIVERGED - 1) * Math.abs(lowest);
  }

  /** Where each rank has a loss of its own, all must come to the same end. */
  private Totals overRanks(StepOutcome outcome) {
    if (!steps.sync().letsRanksDiffer()) {
      return outcome.totals();
    }
    return sum(parts.collective(), outcome);
  }

  private static Totals sum(Collective collective, StepOutcome outcome) {
    try (var _ = TensorScope.open()) {
      var own = outcome.totals();
      double loss = outcome.notFinite().isEmpty() ? own.lossSum() : Double.NaN;
      var sums = Tensors.ofDoubles(loss, own.count());
      collective.allReduce(sums, Reduction.SUM, Traffic.SCALAR).await();
      double[] all = NativeView.of(sums).toArray(ValueLayout.JAVA_DOUBLE);
      return new Totals(all[0], (long) all[1]);
    }
  }
}
