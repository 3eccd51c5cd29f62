package dev.flotilla.step;

import dev.flotilla.arena.Totals;
import dev.flotilla.pass.Accumulation;
import dev.flotilla.pass.MicroStep;
import java.util.function.ToDoubleFunction;

/** Hears the totals of a window, and returns what makes its sum a mean. */
final class WindowMean implements ToDoubleFunction<Totals> {

  private final Accumulation accumulation;
  private final Unreached unreached;
  private MicroStep step = MicroStep.NONE;

  WindowMean(Accumulation accumulation, Unreached unreached) {
    this.accumulation = accumulation;
    this.unreached = unreached;
  }

  /** Says which micro-step runs: the window has as many as are in it by then. */
  void at(MicroStep current) {
    step = current;
  }

  @Override
  public double applyAsDouble(Totals totals) {
    unreached.settle();
    return accumulation.factor(step.inWindow() + 1) / totals.count();
  }
}
