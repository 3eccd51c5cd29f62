package dev.flotilla.step;

import dev.flotilla.arena.Totals;
import dev.flotilla.pass.MicroStep;
import java.util.Optional;

/**
 * What a micro-step did.
 *
 * @param step its place in the run
 * @param updated whether an update was made; where each rank makes its own, also if this one left
 *     it out
 * @param totals loss and count of the window at a boundary, over all ranks that exchange gradients;
 *     this rank's so far before
 * @param lr learning rate of the update, or 0 without one
 * @param notFinite what was infinite or undefined, so that nothing was updated; empty if all is
 *     well
 */
public record StepOutcome(
    MicroStep step, boolean updated, Totals totals, double lr, Optional<String> notFinite) {

  StepOutcome(MicroStep step, Totals totals) {
    this(step, false, totals, 0, Optional.empty());
  }
}
