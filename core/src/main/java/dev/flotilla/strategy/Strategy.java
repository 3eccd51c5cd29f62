package dev.flotilla.strategy;

import dev.flotilla.step.Claim;
import java.util.List;

/**
 * A technique: a settings record that claims phases of the step.
 *
 * <p>Adding one is: a package with this record and its package-private workers, a line in the
 * catalogue, a row in the conformance table, an example and a page.
 */
public interface Strategy {

  /** Returns the key under which recipes name this technique. */
  String key();

  /** Returns the phases it works in; factories only, nothing native. */
  List<Claim> claims();

  /** Tells whether ranks hold parameters of their own at times. */
  default boolean letsRanksDiffer() {
    return false;
  }

  /** Returns what stands against it, or makes it useless, in this run. */
  default List<PlanIssue> issues(PlanFacts facts) {
    return List.of();
  }
}
