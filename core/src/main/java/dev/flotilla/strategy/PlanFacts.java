package dev.flotilla.strategy;

import dev.flotilla.arena.Layout;
import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Groups;
import dev.flotilla.optim.Optimizer;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/**
 * What is known of a run before it starts.
 *
 * @param ranks number of ranks
 * @param optimizer the update rule
 * @param model what is trained
 * @param layout the trainable parameters
 * @param microBatch samples of a micro-step over all ranks, where known
 * @param techniques those of the run
 * @param groups parameters with settings of their own
 */
public record PlanFacts(
    int ranks,
    Optimizer optimizer,
    Model model,
    Layout layout,
    OptionalInt microBatch,
    List<? extends Strategy> techniques,
    Groups groups) {

  /** Copies the list. */
  public PlanFacts {
    techniques = List.copyOf(techniques);
  }

  /** All parameters have the optimizer's settings. */
  public PlanFacts(
      int ranks,
      Optimizer optimizer,
      Model model,
      Layout layout,
      OptionalInt microBatch,
      List<? extends Strategy> techniques) {
    this(ranks, optimizer, model, layout, microBatch, techniques, Groups.none());
  }

  /** Tells whether a technique of the run has a property. */
  public boolean has(Property property) {
    return techniques.stream().anyMatch(technique -> technique.properties().contains(property));
  }

  /** Returns the keys of the run's techniques with a property, for a message. */
  public String named(Property property) {
    return techniques.stream()
        .filter(technique -> technique.properties().contains(property))
        .map(Strategy::key)
        .collect(Collectors.joining(" and "));
  }

  /** Tells whether the model keeps running statistics of batches, as BatchNorm does. */
  public boolean hasBatchStatistics() {
    return model.buffers().stream().anyMatch(BufferSpec::isStatistic);
  }
}
