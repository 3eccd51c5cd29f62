package dev.flotilla.step;

import dev.flotilla.pass.Accumulation;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/**
 * Which claims fill which phase, resolved and free of conflicts; holds no native object.
 *
 * <p>Made by the planner of the strategy package, which refuses conflicts.
 */
public final class StepPlan {

  private final Map<Phase, List<Claim>> claims = new EnumMap<>(Phase.class);

  /** Sorts claims into their phases. */
  public StepPlan(List<Claim> all) {
    for (var phase : Phase.values()) {
      var ofPhase =
          all.stream()
              .filter(claim -> claim.phase() == phase)
              .sorted(Comparator.comparingInt(Claim::order))
              .toList();
      if (phase.hasOneOwner() && ofPhase.size() > 1) {
        throw new IllegalArgumentException(phase + " has one owner, but was claimed twice");
      }
      claims.put(phase, ofPhase);
    }
  }

  /** Returns the plan of a run without techniques. */
  public static StepPlan plain() {
    return new StepPlan(List.of());
  }

  /** Returns what happens in a phase, in words. */
  public String describe(Phase phase) {
    var ofPhase = claims.getOrDefault(phase, List.of());
    return ofPhase.isEmpty()
        ? phase.byDefault()
        : ofPhase.stream().map(Claim::does).collect(Collectors.joining(", then "));
  }

  /**
   * Returns what counts the updates of epochs.
   *
   * @param microBatch samples of a micro-step over all ranks, where known
   * @param microStepsPerEpoch micro-steps of each epoch
   */
  public UpdateCount updateCount(OptionalInt microBatch, long microStepsPerEpoch) {
    var windows =
        owner(Claim.Accumulate.class)
            .map(claim -> claim.worker().apply(microBatch, _ -> {}))
            .orElse(Accumulation.NONE);
    return new UpdateCount(windows, microStepsPerEpoch);
  }

  <C extends Claim> List<C> chain(Class<C> type) {
    return claims.values().stream()
        .flatMap(List::stream)
        .filter(type::isInstance)
        .map(type::cast)
        .toList();
  }

  <C extends Claim> Optional<C> owner(Class<C> type) {
    return chain(type).stream().findFirst();
  }
}
