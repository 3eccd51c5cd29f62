package dev.flotilla.step;

import dev.flotilla.arena.ParameterArena;
import dev.flotilla.exchange.GradientView;
import dev.flotilla.exchange.WindowExchange;
import dev.flotilla.pass.MicroStep;

/** Lets gradients leave before their window ends: during backward, or after each micro-step. */
final class MicroStepExchange {

  private final ParameterArena arena;
  private final StepWorkers workers;
  private final WindowExchange exchange;
  private final StepClock clock;

  MicroStepExchange(ParameterArena arena, StepWorkers workers, StepClock clock) {
    this.arena = arena;
    this.workers = workers;
    this.exchange = workers.exchange();
    this.clock = clock;
  }

  StepClock clock() {
    return clock;
  }

  /** Runs a backward, and lets buckets leave meanwhile where nothing has to happen in between. */
  void duringBackward(Runnable backward, MicroStep step, Object graph) {
    workers.mean().at(step);
    boolean mayLeave = !exchange.judgesFirst() && !isConditionDue();
    boolean begins = mayLeave && step.isBoundary();
    if (begins) {
      workers.finite().beforeExchange();
    }
    exchange.during(backward, graph, mayLeave, begins);
  }

  /**
   * Ends a micro-step before its window does: gradients that are reduced at once leave, after what
   * has to happen before; all ranks call it together.
   */
  void end(MicroStep step) {
    workers.mean().at(step);
    if (!exchange.reducesEachMicroStep()) {
      return;
    }
    if (isConditionDue()
        && !GradientFilter.all(workers.conditions(), GradientView.unexchanged(arena), step)) {
      throw new IllegalStateException("a micro-step whose gradients leave cannot drop its window");
    }
    long start = StepClock.now();
    exchange.endMicroStep();
    clock.exchangeSince(start);
  }

  private boolean isConditionDue() {
    for (var condition : workers.conditions()) {
      if (condition.isDue()) {
        return true;
      }
    }
    return false;
  }
}
