package dev.flotilla.train;

import dev.flotilla.pass.Evaluation;
import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;
import dev.flotilla.step.StepOutcome;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Something of the user's own that is called as training goes on, and may {@linkplain LoopControl
 * act on it}: in a fit, in own loops and with the Booster.
 *
 * <p>All ranks have the same callbacks, and each calls its own; one that acts on the first rank
 * alone asks for the rank itself. What one of them asks for all ranks do, at the same update. What
 * a callback remembers, {@link #remember} says, so that a run that was killed and resumed is the
 * same.
 */
public interface Callback extends Stateful {

  /** Called before the first micro-step of an update. */
  default void beforeStep(LoopControl loop) {}

  /**
   * Called after the last micro-step of an update, also where {@code outcome} says that nothing was
   * updated.
   *
   * @param outcome its loss is the mean over all ranks, but for techniques that let ranks differ
   */
  default void afterStep(LoopControl loop, StepOutcome outcome) {}

  /** Called before the first micro-step of an epoch. */
  default void beforeEpoch(LoopControl loop) {}

  /** Called after the last micro-step of an epoch, and after its evaluation if it has one. */
  default void afterEpoch(LoopControl loop) {}

  /** Called before an evaluation. */
  default void beforeEvaluation(LoopControl loop) {}

  /** Called after an evaluation, whose values are the same on all ranks. */
  default void afterEvaluation(LoopControl loop, Evaluation evaluation) {}

  /** Puts down, or takes up, what it remembers from one call to the next; nothing by default. */
  @Override
  default void remember(RunState state) {}

  /** Returns a callback that does one thing after each step. */
  static Callback eachStep(BiConsumer<LoopControl, StepOutcome> action) {
    return new Callback() {
      @Override
      public void afterStep(LoopControl loop, StepOutcome outcome) {
        action.accept(loop, outcome);
      }
    };
  }

  /** Returns a callback that does one thing after each epoch. */
  static Callback eachEpoch(Consumer<LoopControl> action) {
    return new Callback() {
      @Override
      public void afterEpoch(LoopControl loop) {
        action.accept(loop);
      }
    };
  }

  /** Returns a callback that does one thing after each evaluation. */
  static Callback eachEvaluation(BiConsumer<LoopControl, Evaluation> action) {
    return new Callback() {
      @Override
      public void afterEvaluation(LoopControl loop, Evaluation evaluation) {
        action.accept(loop, evaluation);
      }
    };
  }
}
