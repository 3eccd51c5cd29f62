package dev.flotilla.train;

import dev.flotilla.optim.LrScaling;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Schedule;
import dev.flotilla.optim.ScheduleUnit;
import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;
import java.util.OptionalInt;
import java.util.function.LongSupplier;
import java.util.function.LongToDoubleFunction;
import java.util.function.LongToIntFunction;

/**
 * The learning rate over updates: the optimizer's, grown with the batch, times the schedule; or
 * what callbacks have put in its place.
 */
final class LearningRate implements LongToDoubleFunction, Stateful {

  private static final long UNKNOWN = -1;

  private final Optimizer optimizer;
  private final Schedule schedule;
  private final ScheduleUnit unit;
  private final LongSupplier epoch;
  private final OptionalInt microBatch;
  private final LongToIntFunction microSteps;
  private long totalUpdates = UNKNOWN;
  private long totalEpochs = UNKNOWN;

  /** A rate in place of all else, not a number for none; and by what callbacks have scaled it. */
  private double fixed = Double.NaN;

  private double factor = 1;

  /**
   * Creates the rate.
   *
   * @param unit what the schedule counts
   * @param epoch epochs that are over
   * @param microBatch samples of a micro-step over all ranks, where known
   * @param microSteps micro-steps of the accumulation window that follows so many updates
   */
  LearningRate(
      Optimizer optimizer,
      Schedule schedule,
      ScheduleUnit unit,
      LongSupplier epoch,
      OptionalInt microBatch,
      LongToIntFunction microSteps) {
    this.optimizer = optimizer;
    this.schedule = schedule;
    this.unit = unit;
    this.epoch = epoch;
    this.microBatch = microBatch;
    this.microSteps = microSteps;
  }

  void plannedUpdates(long updates) {
    totalUpdates = updates;
  }

  void plannedEpochs(long epochs) {
    totalEpochs = epochs;
  }

  /** Lets the rate fall by a factor, but not below a fraction of what the schedule says. */
  void fall(double by, double least) {
    factor = Math.max(factor * by, Math.min(factor, least));
  }

  /**
   * Changes the rate of all updates from now on.
   *
   * @param rate takes the place of all that was before; not a number to leave it
   * @param by scales it
   */
  void change(double rate, double by) {
    if (!Double.isNaN(rate)) {
      fixed = rate;
      factor = 1;
    }
    factor *= by;
  }

  /** Takes a rate in place of the optimizer's, grown with the batch, without a schedule. */
  void changeBase(double rate, long update) {
    change(rate * batchFactor(update), 1);
  }

  @Override
  public double applyAsDouble(long update) {
    return (Double.isNaN(fixed) ? planned(update) : fixed) * factor;
  }

  @Override
  public void remember(RunState state) {
    var rate = state.shared().part("learning_rate");
    // Earlier versions did not change it.
    if (rate.has("fixed")) {
      fixed = rate.real("fixed", fixed);
      factor = rate.real("factor", factor);
    }
  }

  private double planned(long update) {
    return optimizer.lr() * batchFactor(update) * scheduled(update);
  }

  private double scheduled(long update) {
    boolean countsEpochs = unit == ScheduleUnit.EPOCH;
    long total = countsEpochs ? totalEpochs : totalUpdates;
    if (total == UNKNOWN && schedule.needsTotal()) {
      throw new IllegalStateException(
          countsEpochs
              ? schedule + " needs the number of epochs: call plannedEpochs(n) before step"
              : schedule + " needs the number of updates: call plannedUpdates(n) before step");
    }
    return schedule.factor(countsEpochs ? epoch.getAsLong() : update, total);
  }

  private double batchFactor(long update) {
    var baseBatch = optimizer.baseBatch();
    if (optimizer.scaleLr() == LrScaling.NONE || baseBatch == null) {
      return 1;
    }
    int samples =
        microBatch.orElseThrow(
            () -> new IllegalStateException("scale_lr needs the batch: call microBatch(n)"));
    double batch = (double) samples * microSteps.applyAsInt(update);
    return optimizer.scaleLr().factor(batch / baseBatch);
  }
}
