package dev.flotilla.step;

import dev.flotilla.pass.Accumulation;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;

/** What takes part in a step: it claims phases, and makes the workers for them. */
public interface Technique {

  /** Returns the key under which recipes name this technique. */
  String key();

  /** Returns the phases it works in; data only, nothing native. */
  List<Claim> claims();

  /** Returns what happens in a phase that nobody claims, where it is something else with it. */
  default Optional<String> unclaimed(Phase phase) {
    return Optional.empty();
  }

  /**
   * Returns the rule that makes windows, if it claims that phase. Planning counts updates by it, so
   * it needs no run.
   *
   * @param microBatch samples of a micro-step over all ranks, where known
   * @param notices takes one-line messages for the user
   */
  default Optional<Accumulation> accumulation(OptionalInt microBatch, Consumer<String> notices) {
    return Optional.empty();
  }

  /**
   * Makes the workers of all other claimed phases, together, so that what they share is theirs
   * alone. Called once per run; all ranks call it in the same order.
   */
  default Workers workers(StepContext context) {
    return new Workers();
  }
}
