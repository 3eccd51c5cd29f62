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
 * @param stage what is sharded: 1 the optimizer's memory
 */
public record Sharding(
    @Setting(doc = "what is sharded: 1 the optimizer's memory", def = "1") int stage)
    implements Strategy {

  /** Checks the settings. */
  public Sharding {
    Check.that(stage >= 1 && stage <= 1, "stage", "must be 1", stage).orThrow();
  }

  @Override
  public String key() {
    return "sharding";
  }

  @Override
  public List<Claim> claims() {
    return List.of(
        new Claim(Phase.EXCHANGE, "reduce-scatter: each rank gets the sums of its slices"),
        new Claim(Phase.UPDATE, "optimizer on this rank's slices"),
        new Claim(Phase.SYNC, "all-gather of parameters, while the next forward begins"));
  }

  @Override
  public Workers workers(StepContext context) {
    var collective = context.collective();
    var slicing = Slicing.of(context.model().model(), context.arena().layout(), collective.size());
    var own = new OwnSlices(context.arena(), slicing.of(collective.rank()));
    return new Workers()
        .exchange(
            new ScatterExchange(collective, slicing),
            new SlicedGradients(context.arena().gradients(), slicing, own.slices(), collective))
        .update(new SlicedUpdate(context.arena().layout(), context.updateSettings(), own.slices()))
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
    return issues;
  }
}
