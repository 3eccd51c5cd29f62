package dev.flotilla.engine;

import dev.flotilla.arena.Totals;

/**
 * What a micro-step did.
 *
 * @param step its place in the run
 * @param updated whether the parameters changed
 * @param totals loss and count of the window over all ranks at a boundary; this rank's so far
 *     before
 * @param lr learning rate of the update, or 0 without one
 */
public record StepOutcome(MicroStep step, boolean updated, Totals totals, double lr) {}
