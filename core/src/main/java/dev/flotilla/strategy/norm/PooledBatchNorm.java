package dev.flotilla.strategy.norm;

import dev.flotilla.pass.BoundModel;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Setting;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.ForwardStage;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.Strategy;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Takes BatchNorm's statistics over more samples than one micro-batch, so that merging and several
 * ranks give what one large batch would.
 *
 * <p>μ and σ² are pooled over all micro-batches and ranks; in backward Σ dy and Σ dy · x̂ are
 * pooled the same way. Over a whole accumulation window this means to run it breadth-first, which
 * costs the activations between BatchNorms for the whole window and one more forward pass.
 *
 * @param over the samples that count as one batch
 */
public record PooledBatchNorm(
    @Setting(
            doc =
                "samples for BatchNorm's statistics: micro_batch, whole_window, or sync for all"
                    + " ranks")
        PoolOver over)
    implements Strategy {

  @Override
  public String key() {
    return "batch_norm";
  }

  @Override
  public List<Claim> claims() {
    return switch (over) {
      case MICRO_BATCH -> List.of();
      case WHOLE_WINDOW ->
          List.of(
              new Claim(
                  ForwardStage.RECOMPUTE,
                  "BatchNorm sees the whole accumulation window on all ranks, breadth-first"));
      case SYNC ->
          List.of(
              new Claim(ForwardStage.RECOMPUTE, "BatchNorm sees the micro-batches of all ranks"));
    };
  }

  @Override
  public Workers workers(StepContext context) {
    if (over == PoolOver.MICRO_BATCH) {
      return new Workers();
    }
    requireAllPooled(context.model());
    return new Workers().pool(over == PoolOver.WHOLE_WINDOW);
  }

  private void requireAllPooled(BoundModel model) {
    if (!model.buffers().hasStatistics()) {
      return;
    }
    long pooled =
        model.parts().stream()
            .flatMap(place -> place.part().pooled().stream())
            .mapToLong(norm -> norm.statistics().channels())
            .sum();
    // Each channel has a mean and a variance that run along.
    long channels = model.buffers().statistics().numel() / 2;
    if (pooled != channels) {
      throw new ConfigException(
          key(),
          ("can be pooled only where a model's parts begin with its BatchNorms, but of %d channels"
                  + " here %d do; state the segments' parts, or use normalization: group")
              .formatted(channels, pooled));
    }
  }

  @Override
  public Set<Property> properties() {
    return over == PoolOver.MICRO_BATCH ? Set.of() : Set.of(Property.POOLS_STATISTICS);
  }

  @Override
  public Map<Property, String> contradicts() {
    return over == PoolOver.MICRO_BATCH
        ? Map.of()
        : Map.of(Property.LETS_RANKS_DIFFER, "pooling makes ranks wait at every micro-step");
  }

  @Override
  public List<PlanIssue> issues(PlanFacts facts) {
    if (over == PoolOver.MICRO_BATCH) {
      return List.of();
    }
    if (!facts.frozenStatistics().isEmpty()) {
      return List.of(
          PlanIssue.error(
              "freeze_statistics keeps BatchNorm's statistics as they are, but batch_norm: %s"
                      .formatted(over.name().toLowerCase(Locale.ROOT))
                  + " takes them over all ranks",
              "remove one of them"));
    }
    if (!facts.hasBatchStatistics()) {
      return List.of(
          PlanIssue.warning(
              "batch_norm has no effect: %s has no BatchNorm".formatted(facts.model().name()),
              "remove it"));
    }
    if (over == PoolOver.SYNC && facts.ranks() == 1) {
      return List.of(PlanIssue.warning("batch_norm: sync has no effect on one rank", "remove it"));
    }
    if (facts.has(Property.RECOMPUTES_FORWARD)) {
      return List.of(
          PlanIssue.warning(
              "batch_norm: %s decides itself what is recomputed, which is every part"
                  .formatted(over == PoolOver.SYNC ? "sync" : "whole_window"),
              "remove %s, or leave it for when batch_norm is gone"
                  .formatted(facts.named(Property.RECOMPUTES_FORWARD))));
    }
    return List.of();
  }
}
