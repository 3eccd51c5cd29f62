package dev.flotilla.strategy.shard;

import dev.flotilla.exchange.Exchange;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Remedy;
import dev.flotilla.settings.Setting;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.ExchangePart;
import dev.flotilla.step.Claim.ForwardStage;
import dev.flotilla.step.Phase;
import dev.flotilla.step.SlicedUpdate;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.wire.Dtype;
import dev.flotilla.wire.ReduceScatter;
import java.util.ArrayList;
import java.util.EnumMap;
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
 * <p>Stage 3: parameters are kept as slices too. Those of a segment are gathered before it runs,
 * forward and backward, and freed after.
 *
 * @param stage what is sharded: 1 the optimizer's memory, 2 gradients too, 3 parameters too
 * @param noSync whether nothing is sent before an accumulation window ends
 */
@Remedy.Offer(value = Remedy.SHARDED_STATE, as = "%s: {stage: 3}")
@Remedy.Offer(value = Remedy.WHOLE_GRADIENTS, as = "%s of stage 1 or its no_sync")
public record Sharding(
    @Setting(doc = "1 shards the optimizer's memory, 2 gradients too, 3 parameters too", def = "1")
        int stage,
    @Setting(
            doc = "stage 2: send nothing before a window ends, and keep whole gradients till then",
            def = "false")
        boolean noSync)
    implements Strategy {

  /** Checks the settings. */
  public Sharding {
    Check.that(stage >= 1 && stage <= 3, "stage", "must be 1, 2 or 3", stage)
        .and(
            !noSync || stage == 2,
            "no_sync",
            "goes with stage 2: stage 1 sends nothing before a window ends, stage 3 has to",
            noSync)
        .orThrow();
  }

  /** Shards up to a stage. */
  public Sharding(int stage) {
    this(stage, false);
  }

  private boolean keepsSlices() {
    return stage == 3 || (stage == 2 && !noSync);
  }

  @Override
  public String key() {
    return "sharding";
  }

  @Override
  public List<Claim> claims() {
    List<Claim> claims = new ArrayList<>();
    if (stage == 3) {
      claims.add(
          new Claim(
              ForwardStage.GATHER, "gather a segment's parameters before it runs, then free"));
    }
    claims.add(
        new Claim(
            ExchangePart.SUMS,
            keepsSlices()
                ? "reduce-scatter after every micro-step: each rank keeps the sums of its slices"
                : "reduce-scatter: each rank gets the sums of its slices"));
    claims.add(new Claim(Phase.UPDATE, "optimizer on this rank's slices"));
    claims.add(
        new Claim(
            Phase.SYNC,
            stage == 3
                ? "free what was gathered"
                : "all-gather of parameters, while the next forward begins"));
    return claims;
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
    var values = stage == 3 ? arena.keepValues(ranges) : null;
    var own = new OwnSlices(arena, values, ranges);
    var workers =
        new Workers()
            .exchange(
                wire -> exchange(context, slicing, wire),
                new SlicedGradients(arena.gradients(), slicing, own.slices(), collective))
            .update(new SlicedUpdate(arena.layout(), context.updateSettings(), own.slices()));
    return values == null
        ? workers.sync(new ParameterGather(context, slicing, own))
        : workers
            .forward(ForwardStage.GATHER, inner -> inner)
            .sync(new SegmentGather(context, slicing, values, own));
  }

  private Exchange exchange(StepContext context, Slicing slicing, Dtype wire) {
    var collective = context.collective();
    var sum = ReduceScatter.of(collective, wire);
    return keepsSlices()
        ? new SliceExchange(collective, slicing, context.arena(), sum)
        : new ScatterExchange(collective, slicing, sum);
  }

  @Override
  public Set<Property> properties() {
    return stage == 3
        ? Set.of(Property.SHARDS_STATE, Property.SHARDS_PARAMETERS)
        : Set.of(Property.SHARDS_STATE);
  }

  @Override
  public Map<Property, String> contradicts() {
    Map<Property, String> reasons = new EnumMap<>(Property.class);
    reasons.put(
        Property.KEEPS_RESIDUALS,
        "a rank that holds slices of the sums has no whole gradient to keep the rest of");
    reasons.put(
        Property.LETS_RANKS_DIFFER,
        "slices of one model are spread over ranks that must hold the same one");
    if (stage == 3) {
      reasons.put(
          Property.POOLS_STATISTICS,
          "parameters are gathered for one segment at a time, not for several batches in one"
              + " graph");
      reasons.put(
          Property.PROFILES_BATCHES,
          "a rank that runs a batch alone would wait for the others' parameters");
    }
    return reasons;
  }

  @Override
  public List<PlanIssue> issues(PlanFacts facts) {
    List<PlanIssue> issues = new ArrayList<>();
    if (facts.ranks() == 1) {
      issues.add(PlanIssue.warning("sharding has no effect on one rank", "remove it"));
    }
    if (keepsSlices()) {
      facts.techniques().stream()
          .filter(Sharding::conditionsWindows)
          .map(Strategy::key)
          .forEach(
              key ->
                  issues.add(
                      PlanIssue.error(
                          ("%s changes the gradients of a window before they are exchanged, but"
                                  + " with sharding of stage %d those of each micro-step are")
                              .formatted(key, stage),
                          "set stage: 1, or stage: 2 with no_sync: true")));
    }
    return issues;
  }

  private static boolean conditionsWindows(Strategy technique) {
    return technique.claims().stream().anyMatch(claim -> claim.phase() == Phase.CONDITION)
        && !technique.properties().contains(Property.CONDITIONS_MICRO_STEPS);
  }
}
