package dev.flotilla.train;

import dev.flotilla.arena.Totals;
import dev.flotilla.data.Batch;
import dev.flotilla.model.LossTerms;
import dev.flotilla.settings.Remedy;
import dev.flotilla.step.MicroSteps;
import dev.flotilla.step.StepOutcome;

/**
 * The parts of a step for users who keep their loop: forward and backward, update, clear.
 *
 * <pre>{@code
 * var loop = trainer.ownLoop();
 * for (Batch batch : microBatches) {
 *     loop.forwardBackward(batch);   // adds to the gradients, never communicates
 * }
 * loop.update();                     // one exchange, one update, gradients cleared
 * }</pre>
 *
 * <p>All ranks call {@link #update} equally often. To have the counting done, see {@link
 * AccumulatingStep}.
 */
public final class OwnLoop {

  private final MicroSteps runner;
  private final OwnSteps steps;
  private int insideNoSync;

  OwnLoop(MicroSteps runner, OwnSteps steps) {
    runner
        .accumulationTechnique()
        .ifPresent(
            technique -> {
              throw new IllegalStateException(
                  technique
                      + " already decides when to update: call step, or build the trainer without"
                      + " it");
            });
    this.runner = runner;
    this.steps = steps;
    steps.requireNoRollback();
  }

  /**
   * Runs a micro-batch and adds to the gradients; returns this rank's totals of the accumulation
   * window.
   */
  public Totals forwardBackward(Batch batch) {
    steps.begin();
    steps.before(batch.samples());
    return runner.accumulate(batch);
  }

  /**
   * Adds the gradient of a loss of your own, given as sum and count.
   *
   * @throws IllegalStateException if a technique works on the forward pass, which it does not see
   *     here
   */
  public Totals backward(LossTerms loss) {
    runner
        .forwardTechniques()
        .ifPresent(
            techniques -> {
              throw new IllegalStateException(
                  "a loss of your own comes from a forward pass that does without the plan's ("
                      + techniques
                      + "): call forwardBackward, or build the trainer without them");
            });
    steps.begin();
    return runner.accumulate(loss);
  }

  /**
   * Exchanges, divides and applies the gradients of the window, and clears them.
   *
   * @throws IllegalStateException inside {@link #noSync}
   */
  public StepOutcome update() {
    requireSync();
    steps.begin();
    var outcome = runner.update();
    steps.after(outcome, false);
    return outcome;
  }

  /**
   * Runs the last micro-batch of the window and updates. As the end of the window is known before
   * backward, gradients can leave while it goes on, where a technique overlaps both.
   *
   * @throws IllegalStateException inside {@link #noSync}
   */
  public StepOutcome update(Batch last) {
    requireSync();
    steps.begin();
    steps.before(last.samples());
    var outcome = runner.update(last);
    steps.after(outcome, false);
    return outcome;
  }

  private void requireSync() {
    if (isInsideNoSync()) {
      throw new IllegalStateException(
          "update was called inside noSync, which marks micro-steps that must not communicate; "
              + "close it first");
    }
  }

  /** Returns the micro-batches of the window so far. */
  int waiting() {
    return runner.waiting();
  }

  /** Throws the gradients of the window away. */
  public void clear() {
    runner.clear();
  }

  /**
   * Marks micro-steps that must not communicate; an update before it is closed is refused.
   *
   * @throws IllegalStateException if micro-steps have to, as ranks keep slices of gradients
   */
  public NoSync noSync() {
    if (runner.exchangesEachMicroStep()) {
      throw new IllegalStateException(
          "noSync is not possible here: ranks keep slices of gradients, so every micro-step has to"
              + " exchange; keep whole gradients, with "
              + Remedy.WHOLE_GRADIENTS.named());
    }
    return new Stretch();
  }

  /** Tells whether a stretch of {@link #noSync} is open. */
  public boolean isInsideNoSync() {
    return insideNoSync > 0;
  }

  /**
   * Says that an epoch of the loop ends here, for events and callbacks; all ranks call it together.
   */
  public void endEpoch() {
    steps.endEpoch();
  }

  /** Returns a step that counts micro-batches and updates after every k-th. */
  public AccumulatingStep accumulating(int k) {
    return new AccumulatingStep(this, k);
  }

  /** A stretch of micro-steps without communication; a second close does nothing. */
  @FunctionalInterface
  public interface NoSync extends AutoCloseable {
    @Override
    void close();
  }

  private final class Stretch implements NoSync {

    private boolean isOver;

    Stretch() {
      insideNoSync++;
    }

    @Override
    public void close() {
      insideNoSync -= isOver ? 0 : 1;
      isOver = true;
    }
  }
}
