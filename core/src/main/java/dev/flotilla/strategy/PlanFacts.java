package dev.flotilla.strategy;

import dev.flotilla.arena.Layout;
import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Groups;
import dev.flotilla.optim.Optimizer;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
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
 * @param frozenStatistics buffers of running statistics that training uses and does not move
 */
public record PlanFacts(
    int ranks,
    Optimizer optimizer,
    Model model,
    Layout layout,
    OptionalInt microBatch,
    List<? extends Strategy> techniques,
    Groups groups,
    Set<String> frozenStatistics) {

  /** Copies the list and the set. */
  public PlanFacts {
    techniques = List.copyOf(techniques);
    frozenStatistics = Set.copyOf(frozenStatistics);
  }

  /** All parameters have the optimizer's settings. */
  public PlanFacts(
      int ranks,
      Optimizer optimizer,
      Model model,
      Layout layout,
      OptionalInt microBatch,
      List<? extends Strategy> techniques) {
    this(ranks, optimizer, model, layout, microBatch, techniques, Groups.none(), Set.of());
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

  /** Tells whether training takes statistics of batches, as BatchNorm does unless it is frozen. */
  public boolean hasBatchStatistics() {
    return model.buffers().stream()
        .filter(BufferSpec::isStatistic)
        .anyMatch(buffer -> !frozenStatistics.contains(buffer.name()));
  }
}
