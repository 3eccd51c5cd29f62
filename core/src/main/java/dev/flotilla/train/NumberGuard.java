package dev.flotilla.train;

import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;
import dev.flotilla.step.NumericalException;
import dev.flotilla.step.StepOutcome;
import java.util.function.Consumer;

/** Acts on accumulation windows whose loss or gradient is not finite; all ranks act alike. */
final class NumberGuard implements Stateful {

  private static final int MOST_IN_A_ROW = 10;

  private final NonFinite policy;
  private final Consumer<String> notices;
  private long inARow;

  NumberGuard(NonFinite policy, Consumer<String> notices) {
    this.policy = policy;
    this.notices = notices;
  }

  /**
   * Looks at what a micro-step did.
   *
   * @throws NumericalException if the run must end
   */
  void judge(StepOutcome outcome, long updates) {
    if (outcome.notFinite().isEmpty()) {
      inARow = outcome.updated() ? 0 : inARow;
      return;
    }
    inARow++;
    var text = "after update %d %s".formatted(updates, outcome.notFinite().get());
    if (policy == NonFinite.STOP) {
      throw new NumericalException(
          text
              + "; nothing was updated. Look at the data and the learning rate, or set non_finite:"
              + " skip or rollback");
    }
    if (inARow >= MOST_IN_A_ROW) {
      throw new NumericalException(
          "%s, for the %d-th accumulation window in a row; nothing was updated"
              .formatted(text, inARow));
    }
    notices.accept(text + "; the accumulation window is left out");
  }

  /** Tells whether a micro-step calls for the last checkpoint. */
  boolean callsForRollback(StepOutcome outcome) {
    return policy == NonFinite.ROLLBACK && outcome.notFinite().isPresent();
  }

  @Override
  public void remember(RunState state) {
    inARow = state.shared().number("not_finite/in_a_row", inARow);
  }
}
