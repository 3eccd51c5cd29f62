package dev.flotilla.strategy;

import dev.flotilla.arena.Layout;
import dev.flotilla.arena.ParameterShare;
import dev.flotilla.collective.Collective;
import dev.flotilla.model.Model;
import dev.flotilla.step.Technique;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A technique: a settings record that claims phases of the step.
 *
 * <p>Adding one is: a package with this record and its package-private workers, a line in the
 * catalogue, a row in the conformance table, an example and a page.
 */
public interface Strategy extends Technique, StrategyChoice {

  /** Returns itself: settings that are stated are chosen. */
  @Override
  default Optional<Strategy> chosen() {
    return Optional.of(this);
  }

  /** Returns what other techniques must know of it; nothing by default. */
  default Set<Property> properties() {
    return Set.of();
  }

  /**
   * Returns the properties of others that it cannot work with, each with the reason as half of a
   * sentence; none by default.
   */
  default Map<Property, String> contradicts() {
    return Map.of();
  }

  /**
   * Returns the ranks that exchange gradients with this one, where not all do; asked before
   * parameters are allocated. All ranks call it together.
   *
   * @param host number of this rank's host
   * @param notices takes one-line messages for the user
   */
  default Optional<Collective> peers(Collective all, int host, Consumer<String> notices) {
    return Optional.empty();
  }

  /**
   * Returns what a rank keeps of the parameters, where it does not keep all of them; asked before
   * they are allocated.
   *
   * @param peers the ranks that hold the same parameters as this one at all times
   */
  default Optional<ParameterShare> share(Model model, Layout layout, Collective peers) {
    return Optional.empty();
  }

  /** Returns what stands against it, or makes it useless, in this run. */
  default List<PlanIssue> issues(PlanFacts facts) {
    return List.of();
  }
}
