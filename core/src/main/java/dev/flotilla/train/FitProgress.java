package dev.flotilla.train;

import dev.flotilla.arena.Totals;
import dev.flotilla.data.EpochSource;
import dev.flotilla.model.Score;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.state.RunState;
import dev.flotilla.state.State;
import dev.flotilla.state.Stateful;
import java.util.Optional;

/** How far a fit has come, in data, numbers and time. */
final class FitProgress implements Stateful {

  private static final long NEVER = -1;
  private static final Totals NOTHING = new Totals(Double.NaN, 1);

  /** Whether a fit has begun and not ended. */
  boolean isUnderWay;

  /** Epochs and updates of the trainer before this fit. */
  long firstEpoch;

  long firstUpdate;

  /** The next global batch: number of the epoch in this fit, number of the batch in the epoch. */
  int epoch;

  long index;
  long globalBatch;

  /** Which samples an epoch has, in which order; empty where an earlier version did not say. */
  String order = "";

  long updatesBeforeEpoch;
  double secondsBeforeEpoch;

  long samples;

  /** The last accumulation window, whose loss may still be on a device. */
  Totals totals = NOTHING;

  double seconds;
  long samplesAtLastLog;
  double secondsAtLastLog;

  Optional<Evaluation> evaluation = Optional.empty();
  long evaluatedAt = NEVER;
  long savedAt = NEVER;

  /** What decisions have seen of evaluations. */
  final BestValue watched = new BestValue();

  final BestValue plateau = new BestValue();

  final BestValue best = new BestValue();
  boolean isStopped;

  /** Why a callback has ended the fit; empty where none has. */
  String stopReason = "";

  /** Whether the last evaluation is the best, and no checkpoint was saved since. */
  boolean isBestNow;

  /** Begins a new fit. */
  void begin(long epochsBefore, long updatesBefore, EpochSource source, int ranks) {
    isUnderWay = true;
    firstEpoch = epochsBefore;
    firstUpdate = updatesBefore;
    epoch = 0;
    index = 0;
    globalBatch = source.globalBatch(ranks);
    order = source.order();
    updatesBeforeEpoch = updatesBefore;
    secondsBeforeEpoch = 0;
    samples = 0;
    totals = NOTHING;
    seconds = 0;
    samplesAtLastLog = 0;
    secondsAtLastLog = 0;
    evaluation = Optional.empty();
    evaluatedAt = NEVER;
    savedAt = NEVER;
    watched.forget();
    plateau.forget();
    best.forget();
    isStopped = false;
    stopReason = "";
    isBestNow = false;
  }

  /**
   * Finds the next global batch where batches have another size than when the run was saved.
   *
   * @throws ConfigException if none begins where the run was saved, or samples come in another
   *     order
   */
  void continueWith(EpochSource source, int ranks) {
    findBatch(source, ranks);
    requireSameOrder(source);
  }

  private void findBatch(EpochSource source, int ranks) {
    int now = source.globalBatch(ranks);
    if (globalBatch == now) {
      return;
    }
    if (source.orderDependsOnBatch() && index > 0) {
      throw new ConfigException(
          "batch",
          "the checkpoint was made with batches of %d over all ranks, but now they have %d"
              .formatted(globalBatch, now));
    }
    long all = source.knownSamples(ranks).orElse(Long.MAX_VALUE);
    long seen = Math.min(index * globalBatch, all);
    boolean isEnd = seen == all;
    if (!isEnd && seen % now != 0) {
      throw new ConfigException(
          "batch",
          ("the checkpoint was made after %d samples of an epoch, which batches of %d over all"
                  + " ranks do not meet; with global_batch: %d the order of samples stays the same")
              .formatted(seen, now, globalBatch));
    }
    index = isEnd ? source.knownBatches(ranks).orElseThrow() : seen / now;
    globalBatch = now;
  }

  /** Inside an epoch, another order would show some samples twice and others never. */
  private void requireSameOrder(EpochSource source) {
    if (index > 0 && !order.isEmpty() && !order.equals(source.order())) {
      throw new ConfigException(
          "data",
          ("the checkpoint was made inside an epoch of %s, but now an epoch is %s: go on with the"
                  + " same data and order, or from a checkpoint at the end of an epoch")
              .formatted(order, source.order()));
    }
    order = source.order();
  }

  /** Returns the mean loss of the last window. */
  double loss() {
    return totals.meanLoss();
  }

  void nextEpoch(long updates, double secondsNow) {
    epoch++;
    index = 0;
    updatesBeforeEpoch = updates;
    secondsBeforeEpoch = secondsNow;
  }

  @Override
  public void remember(RunState state) {
    var fit = state.shared().part("fit");
    isUnderWay = fit.number("under_way", isUnderWay ? 1 : 0) == 1;
    firstEpoch = fit.number("first_epoch", firstEpoch);
    firstUpdate = fit.number("first_update", firstUpdate);
    epoch = Math.toIntExact(fit.number("epoch", epoch));
    index = fit.number("index", index);
    globalBatch = fit.number("global_batch", globalBatch);
    order = fit.has("order") ? fit.text("order", order) : "";
    updatesBeforeEpoch = fit.number("updates_before_epoch", updatesBeforeEpoch);
    samples = fit.number("samples", samples);
    samplesAtLastLog = fit.number("samples_at_last_log", samplesAtLastLog);
    totals = new Totals(fit.real("loss", loss()), 1);
    evaluatedAt = fit.number("evaluated_at", evaluatedAt);
    savedAt = fit.number("saved_at", savedAt);
    evaluation = evaluatedAt == NEVER ? Optional.empty() : Optional.of(remembered(fit));
    watched.remember(fit.part("watched"));
    plateau.remember(fit.part("plateau"));
    best.remember(fit.part("best"));
    // Earlier versions did not stop.
    isStopped = fit.has("stopped") && fit.number("stopped", isStopped ? 1 : 0) == 1;
    stopReason = fit.has("stop_reason") ? fit.text("stop_reason", stopReason) : "";
    rememberTimes(fit);
  }

  private void rememberTimes(State fit) {
    seconds = fit.real("seconds", seconds);
    secondsBeforeEpoch = fit.real("seconds_before_epoch", secondsBeforeEpoch);
    secondsAtLastLog = fit.real("seconds_at_last_log", secondsAtLastLog);
  }

  private Evaluation remembered(State fit) {
    return SavedEvaluation.remember(
        fit.part("evaluation"), evaluation.orElse(new Evaluation(0, Score.NONE, 0)));
  }
}
