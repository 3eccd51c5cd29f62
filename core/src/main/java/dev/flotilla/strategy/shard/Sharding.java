package dev.flotilla.strategy.shard;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Phase;
import dev.flotilla.step.SlicedUpdate;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.Strategy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Lets each rank keep a slice of what all ranks would hold alike (Rajbhandari et al., 2020,
 * "ZeRO").
 *
 * <p>Stage 1: a rank keeps the optimizer's memory for its slices alone. Buckets of gradients are
 * reduced and scattered as backward completes them, each rank updates its slices, and parameters
 * are gathered, those of the first segments first, while the next forward pass begins.
 *
 * <p>Stage 2: gradients are kept as slices too. A parameter's gradient is a tensor of its own until
 * its bucket has been reduced, so the gradients of every micro-step are reduced; with {@code
 * no_sync} they are added up whole until the window ends, which takes the memory of stage 1.
 *
 * @param stage what is sharded: 1 the optimizer's memory, 2 gradients too
 * @param noSync whether nothing is sent before an accumulation window ends
 */
public record Sharding(
    @Setting(doc = "what is sharded: 1 the optimizer's memory, 2 gradients too", def = "1")
        int stage,
    @Setting(
            doc = "stage 2: send nothing before a window ends, and keep whole gradients till then",
            def = "false")
        boolean noSync)
    implements Strategy {

  /** Checks the settings. */
  public Sharding {
    Check.that(stage == 1 || stage == 2, "stage", "must be 1 or 2", stage)
        .and(
            !noSync || stage == 2,
            "no_sync",
            "goes with stage 2; with stage 1 nothing is sent before a window ends anyway",
            noSync)
        .orThrow();
  }

  /** Shards up to a stage. */
  public Sharding(int stage) {
    this(stage, false);
  }

  private boolean keepsSlices() {
    return stage == 2 && !noSync;
  }

  @Override
  public String key() {
    return "sharding";
  }

  @Override
  public List<Claim> claims() {
    return List.of(
        new Claim(
            Phase.EXCHANGE,
            keepsSlices()
                ? "reduce-scatter after every micro-step: each rank keeps the sums of its slices"
                : "reduce-scatter: each rank gets the sums of its slices"),
        new Claim(Phase.UPDATE, "optimizer on this rank's slices"),
        new Claim(Phase.SYNC, "all-gather of parameters, while the next forward begins"));
  }

  @Override
  public Workers workers(StepContext context) {
    var collective = context.collective();
    var arena = context.arena();
    var slicing = Slicing.of(context.model().model(), arena.layout(), collective.size());
    var ranges = slicing.of(collective.rank());
    if (keepsSlices()) {
      arena.keepGradients(ranges);
    }
    var own = new OwnSlices(arena, ranges);
    return new Workers()
        .exchange(
            keepsSlices()
                ? new SliceExchange(collective, slicing, arena)
                : new ScatterExchange(collective, slicing),
            new SlicedGradients(arena.gradients(), slicing, own.slices(), collective))
        .update(new SlicedUpdate(arena.layout(), context.updateSettings(), own.slices()))
        .sync(new ParameterGather(context, slicing, own));
  }

  @Override
  public Set<Property> properties() {
    return Set.of(Property.SHARDS_STATE);
  }

  @Override
  public Map<Property, String> contradicts() {
    return Map.of(
        Property.KEEPS_RESIDUALS,
            "a rank that holds slices of the sums has no whole gradient to keep the rest of",
        Property.LETS_RANKS_DIFFER,
            "slices of one model are spread over ranks that must hold the same one");
  }

  @Override
  public List<PlanIssue> issues(PlanFacts facts) {
    List<PlanIssue> issues = new ArrayList<>();
    if (facts.ranks() == 1) {
      issues.add(PlanIssue.warning("sharding has no effect on one rank", "remove it"));
    }
    if (keepsSlices()) {
      facts.techniques().stream()
          .filter(Sharding::conditionsGradients)
          .map(Strategy::key)
          .forEach(
              key ->
                  issues.add(
                      PlanIssue.error(
                          ("%s changes whole gradients before they are exchanged, but sharding of"
                                  + " stage 2 keeps none that long")
                              .formatted(key),
                          "set stage: 1, or no_sync: true")));
    }
    return issues;
  }

  private static boolean conditionsGradients(Strategy technique) {
    return technique.claims().stream().anyMatch(claim -> claim.phase() == Phase.CONDITION);
  }
}
