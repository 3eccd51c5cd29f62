package dev.flotilla.train;

import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.DeviceMemory;
import dev.flotilla.memory.ProcessMemory;
import dev.flotilla.model.Score;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.step.StepOutcome;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/** Says how a fit is going: logged updates with their speed, and evaluations. */
final class FitLog {

  private static final long BETWEEN_LOOKS = 200_000_000;

  private final TrainerParts parts;
  private final FitProgress progress;
  private final EventSink sink;
  private final DoubleSupplier dataWait;
  private double secondsBefore;
  private long residentBytes;
  private long residentAt;

  /**
   * Makes one.
   *
   * @param dataWait seconds that this rank has waited for data so far
   */
  FitLog(TrainerParts parts, FitProgress progress, DoubleSupplier dataWait) {
    this.parts = parts;
    this.progress = progress;
    this.sink = parts.settings().events();
    this.dataWait = dataWait;
  }

  /** Hears for how long earlier attempts have trained. */
  void begin(double seconds) {
    secondsBefore = seconds;
  }

  /**
   * Returns where this rank's time went.
   *
   * @param seconds time spent training so far
   */
  StepLedger ledger(double seconds) {
    return new StepLedger(dataWait.getAsDouble(), parts.steps().seconds(), seconds - secondsBefore);
  }

  /**
   * Tells of an update as soon as it is known that it was made: now, or where the device decides on
   * it, in the next step, so that nothing is waited for.
   */
  void updated(int epoch, StepOutcome outcome, Stopwatch training) {
    var score = parts.chain().takeScore();
    long samples = progress.samples;
    outcome.whenKnown(
        known -> {
          if (known.updated()) {
            updated(epoch, known, score, samples, training.seconds());
          } else {
            score.drop();
          }
        });
  }

  private void updated(int epoch, StepOutcome outcome, Score score, long samples, double seconds) {
    double rate = samplesPerSecond(samples, seconds);
    var device = parts.model().device();
    if (device.isCuda()) {
      var memory = new DeviceMemory(device);
      sink.on(
          new TrainingEvent.DeviceUsed(
              parts.steps().updates(), device.toString(), memory.liveBytes(), memory.peakBytes()));
    }
    sink.on(timed(seconds));
    sink.on(
        new TrainingEvent.Updated(
            epoch,
            parts.steps().updates(),
            outcome.step().index() + 1,
            progress.loss(),
            outcome.lr(),
            orNull(score.acc1()),
            orNull(score.acc5()),
            rate));
  }

  private TrainingEvent.Timed timed(double seconds) {
    var density = parts.steps().density();
    return new TrainingEvent.Timed(
        parts.steps().updates(),
        ledger(seconds).byName(),
        residentBytes(),
        parts.sentBefore().plus(Traffic.EXCHANGE, parts.collective()).bytesSent(),
        density.isPresent() ? density.getAsDouble() : null);
  }

  /** The system takes a fraction of a millisecond to tell, which short updates would feel. */
  private long residentBytes() {
    long now = System.nanoTime();
    if (residentBytes == 0 || now - residentAt > BETWEEN_LOOKS) {
      residentBytes = ProcessMemory.residentBytes();
      residentAt = now;
    }
    return residentBytes;
  }

  /** Returns the speed since the update that was logged before. */
  private double samplesPerSecond(long samples, double seconds) {
    long since = samples - progress.samplesAtLastLog;
    double rate = since / Math.max(1e-9, seconds - progress.secondsAtLastLog);
    progress.samplesAtLastLog = samples;
    progress.secondsAtLastLog = seconds;
    return rate;
  }

  /** Tells of an evaluation. */
  void evaluated(int epoch, Evaluation result) {
    sink.on(
        new TrainingEvent.Evaluated(
            epoch,
            parts.steps().updates(),
            result.loss(),
            orNull(result.score().acc1()),
            orNull(result.score().acc5()),
            result.samples(),
            result.shownMetrics()));
  }

  private static @Nullable Double orNull(double accuracy) {
    return Double.isNaN(accuracy) ? null : accuracy;
  }
}
