package dev.flotilla.strategy;

import dev.flotilla.arena.Layout;
import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Optimizer;
import java.util.OptionalInt;
import java.util.Set;

/**
 * What is known of a run before it starts.
 *
 * @param ranks number of ranks
 * @param optimizer the update rule
 * @param model what is trained
 * @param layout the trainable parameters
 * @param microBatch samples of a micro-step over all ranks, where known
 * @param properties what the techniques of the run state of themselves
 */
public record PlanFacts(
    int ranks,
    Optimizer optimizer,
    Model model,
    Layout layout,
    OptionalInt microBatch,
    Set<Property> properties) {

  /** Copies the set. */
  public PlanFacts {
    properties = Set.copyOf(properties);
  }

  /** Tells whether a technique of the run has a property. */
  public boolean has(Property property) {
    return properties.contains(property);
  }

  /** Tells whether the model keeps running statistics of batches, as BatchNorm does. */
  public boolean hasBatchStatistics() {
    return model.buffers().stream().anyMatch(BufferSpec::isStatistic);
  }
}
