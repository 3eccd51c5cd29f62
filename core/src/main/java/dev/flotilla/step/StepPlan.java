package dev.flotilla.step;

import dev.flotilla.pass.Accumulation;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The techniques of a run, sorted, and which of their claims fill which phase; holds no native
 * object.
 *
 * <p>Made by the planner of the strategy package, which refuses conflicts.
 *
 * @param techniques in the order of their keys
 */
public record StepPlan(List<Technique> techniques) {

  /** Sorts techniques by key. */
  public StepPlan {
    techniques = techniques.stream().sorted(Comparator.comparing(Technique::key)).toList();
    for (var phase : Phase.values()) {
      var claims = claims(techniques, phase);
      for (int i = 1; i < claims.size(); i++) {
        if (claims.subList(0, i).stream().anyMatch(claims.get(i)::conflictsWith)) {
          throw new IllegalArgumentException(phase + " has one owner, but was claimed twice");
        }
      }
    }
  }

  /** Returns the plan of a run without techniques. */
  public static StepPlan plain() {
    return new StepPlan(List.of());
  }

  private static List<Claim> claims(List<Technique> techniques, Phase phase) {
    return techniques.stream()
        .flatMap(technique -> technique.claims().stream())
        .filter(claim -> claim.phase() == phase)
        .sorted(Comparator.comparingInt(Claim::order))
        .toList();
  }

  /**
   * Returns what counts the updates of epochs.
   *
   * @param microBatch samples of a micro-step over all ranks, where known
   * @param microStepsPerEpoch micro-steps of each epoch
   */
  public UpdateCount updateCount(OptionalInt microBatch, long microStepsPerEpoch) {
    var windows =
        techniques.stream()
            .flatMap(technique -> technique.accumulation(microBatch, _ -> {}).stream())
            .findFirst()
            .orElse(Accumulation.NONE);
    return new UpdateCount(windows, microStepsPerEpoch);
  }

  /** Returns the key of the technique that claims a phase with one owner, if one does. */
  Optional<String> owner(Phase phase) {
    return techniques.stream()
        .filter(technique -> technique.claims().stream().anyMatch(it -> it.phase() == phase))
        .map(Technique::key)
        .findFirst();
  }

  private String unclaimed(Phase phase) {
    return techniques.stream()
        .flatMap(technique -> technique.unclaimed(phase).stream())
        .findFirst()
        .orElse(phase.byDefault());
  }

  /** Returns what happens in a phase, in words. */
  public String describe(Phase phase) {
    var claims = claims(techniques, phase);
    var does = claims.stream().map(Claim::does);
    var all =
        claims.stream().allMatch(Claim::addsToDefault)
            ? Stream.concat(Stream.of(unclaimed(phase)), does)
            : does;
    return all.collect(Collectors.joining(phase.hasOneOwner() ? ", " : ", then "));
  }
}
