package dev.flotilla.train;

import dev.flotilla.optim.LrScaling;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Schedule;
import java.util.OptionalInt;
import java.util.function.LongToDoubleFunction;
import java.util.function.LongToIntFunction;

/** The learning rate over updates: the optimizer's, grown with the batch, times the schedule. */
final class LearningRate implements LongToDoubleFunction {

  private static final long UNKNOWN = -1;

  private final Optimizer optimizer;
  private final Schedule schedule;
  private final OptionalInt microBatch;
  private final LongToIntFunction microSteps;
  private long totalUpdates = UNKNOWN;

  /**
   * Creates the rate.
   *
   * @param microBatch samples of a micro-step over all ranks, where known
   * @param microSteps micro-steps of the accumulation window that follows so many updates
   */
  LearningRate(
      Optimizer optimizer,
      Schedule schedule,
      OptionalInt microBatch,
      LongToIntFunction microSteps) {
    this.optimizer = optimizer;
    this.schedule = schedule;
    this.microBatch = microBatch;
    this.microSteps = microSteps;
  }

  void plannedUpdates(long updates) {
    totalUpdates = updates;
  }

  @Override
  public double applyAsDouble(long update) {
    if (totalUpdates == UNKNOWN && schedule.needsTotal()) {
      throw new IllegalStateException(
          schedule + " needs the number of updates: call plannedUpdates(n) before step");
    }
    return optimizer.lr() * batchFactor(update) * schedule.factor(update, totalUpdates);
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
