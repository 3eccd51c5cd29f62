package dev.flotilla.strategy.merge;

import dev.flotilla.engine.Claim;
import dev.flotilla.engine.Claim.ForwardStage;
import dev.flotilla.settings.Setting;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.Strategy;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Takes k micro-batches of forward and backward, then one exchange and one update.
 *
 * <p>With g the gradient of a loss sum and n the number of its terms, over micro-steps i of a
 * window and ranks r: G = Σᵢ Σᵣ gᵢᵣ / Σᵢ Σᵣ nᵢᵣ, which is the gradient of the one large batch, also
 * where batches are ragged, tokens are masked or ranks are unequal. With {@code avg: false} it is k
 * G.
 *
 * <p>Costs no memory beyond the gradients themselves, since backward adds into the arena, and one
 * exchange per window instead of k.
 *
 * @param kSteps micro-steps per update, or a schedule
 * @param avg whether to divide, or to sum the micro-steps' means
 * @param tail what happens to the incomplete last window of an epoch
 * @param weighting what the mean is taken over
 */
public record GradientMerge(
    @Setting(doc = "micro-steps per update, or a schedule like '1 then 4 from 100'")
        WindowLength kSteps,
    @Setting(doc = "divide by the micro-steps, or sum them", def = "true") boolean avg,
    @Setting(doc = "the incomplete last window of an epoch: flush, carry or drop", def = "flush")
        Tail tail,
    @Setting(doc = "mean over loss terms, or over micro_batches as Fleet does", def = "terms")
        Weighting weighting)
    implements Strategy {

  /** Merges so many micro-batches into the gradient of one large batch. */
  public GradientMerge(int kSteps) {
    this(WindowLength.of(kSteps), true, Tail.FLUSH, Weighting.TERMS);
  }

  @Override
  public String key() {
    return "gradient_merge";
  }

  @Override
  public List<Claim> claims() {
    List<Claim> claims = new ArrayList<>();
    claims.add(
        new Claim.Accumulate(description(), context -> new MergeWindows(this, context.notices())));
    if (weighting == Weighting.MICRO_BATCHES) {
      claims.add(
          new Claim.Forward(
              ForwardStage.WEIGHT, "each micro-batch counts once", _ -> MeanOfMeans::new));
    }
    return claims;
  }

  private String description() {
    return "windows of %s micro-steps, %s, tail %s"
        .formatted(kSteps, avg ? "mean" : "sum", tail.name().toLowerCase(Locale.ROOT));
  }

  @Override
  public List<PlanIssue> issues(PlanFacts facts) {
    if (kSteps.isAlwaysOne()) {
      return List.of(
          PlanIssue.warning(
              "gradient_merge has no effect with k_steps 1", "raise it or remove it"));
    }
    if (!facts.hasBatchStatistics()) {
      return List.of();
    }
    return List.of(
        PlanIssue.warning(
            "BatchNorm sees micro-batches, so merging is not the same as one large batch",
            "use a model with another normalisation, or larger micro-batches"));
  }
}
