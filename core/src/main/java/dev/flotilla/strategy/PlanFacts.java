package dev.flotilla.strategy;

import dev.flotilla.arena.Layout;
import dev.flotilla.optim.Optimizer;

/**
 * What is known of a run before it starts.
 *
 * @param ranks number of ranks
 * @param optimizer the update rule
 * @param layout the trainable parameters
 */
public record PlanFacts(int ranks, Optimizer optimizer, Layout layout) {}
