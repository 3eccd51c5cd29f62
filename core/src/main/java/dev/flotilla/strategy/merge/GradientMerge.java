package dev.flotilla.strategy.merge;

import dev.flotilla.optim.LrScaling;
import dev.flotilla.pass.Accumulation;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Remedy;
import dev.flotilla.settings.Setting;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.ForwardStage;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.Strategy;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes k micro-batches of forward and backward, then one exchange and one update.
 *
 * <p>With g the gradient of a loss sum and n the number of its terms, over micro-steps i of a
 * window and ranks r: G = Σᵢ Σᵣ gᵢᵣ / Σᵢ Σᵣ nᵢᵣ, which is the gradient of the one large batch, also
 * where batches are ragged, tokens are masked or ranks are unequal. With {@code avg: false} it is k
 * G.
 *
 * <p>Costs no memory beyond the gradients themselves, since backward adds into the arena, and one
 * exchange per accumulation window instead of k.
 *
 * @param kSteps micro-steps per update, or a schedule; null where {@code globalBatch} is stated
 * @param globalBatch samples per update over all ranks, from which k follows; null with k_steps
 * @param avg whether to divide, or to sum the micro-steps' means
 * @param tail what happens to the incomplete last window of an epoch
 * @param weighting what the mean is taken over
 */
@Remedy.Offer(Remedy.ACCUMULATION)
@Remedy.Offer(value = Remedy.FULL_WINDOWS, as = "lower %1$s.k_steps or set %1$s.tail to flush")
public record GradientMerge(
    @Setting(
            doc = "micro-steps per update, or a schedule like '1 then 4 from 100'",
            insteadOf = "global_batch")
        @Nullable WindowLength kSteps,
    @Setting(doc = "samples per update over all ranks; k follows from it", insteadOf = "k_steps")
        @Nullable Integer globalBatch,
    @Setting(doc = "true for the mean over micro-steps, false for their sum", def = "true")
        boolean avg,
    @Setting(
            doc = "the incomplete last accumulation window of an epoch: flush, carry or drop",
            def = "flush")
        Tail tail,
    @Setting(
            doc =
                "terms: mean over all loss terms; micro_batches: mean of micro-batches' means, as"
                    + " in Fleet",
            def = "terms")
        Weighting weighting)
    implements Strategy {

  /** Checks the settings. */
  public GradientMerge {
    boolean one = (kSteps == null) != (globalBatch == null);
    Check.that(one, "k_steps", "must be stated, or global_batch, but not both", shown(kSteps))
        .and(
            globalBatch == null || globalBatch >= 1,
            "global_batch",
            "must be at least 1",
            shown(globalBatch))
        .orThrow();
  }

  /** Merges so many micro-batches into the gradient of one large batch. */
  public GradientMerge(int kSteps) {
    this(WindowLength.of(kSteps), null, true, Tail.FLUSH, Weighting.TERMS);
  }

  /** Merges as many micro-batches as make so many samples over all ranks. */
  public static GradientMerge toGlobalBatch(int samples) {
    return new GradientMerge(null, samples, true, Tail.FLUSH, Weighting.TERMS);
  }

  private static String shown(@Nullable Object value) {
    return String.valueOf(value);
  }

  @Override
  public String key() {
    return "gradient_merge";
  }

  @Override
  public List<Claim> claims() {
    List<Claim> claims = new ArrayList<>();
    claims.add(new Claim(Phase.ACCUMULATION, description()));
    if (weighting == Weighting.MICRO_BATCHES) {
      claims.add(new Claim(ForwardStage.WEIGHT, "each micro-batch counts once"));
    }
    return claims;
  }

  @Override
  public Workers workers(StepContext context) {
    return weighting == Weighting.MICRO_BATCHES
        ? new Workers().forward(ForwardStage.WEIGHT, MeanOfMeans::new)
        : new Workers();
  }

  @Override
  public Optional<Accumulation> accumulation(OptionalInt microBatch, Consumer<String> notices) {
    return Optional.of(new MergeWindows(this, windows(microBatch), notices));
  }

  private String description() {
    return "windows of %s, %s, tail %s"
        .formatted(
            kSteps == null ? globalBatch + " samples" : kSteps + " micro-steps",
            avg ? "mean" : "sum",
            tail.name().toLowerCase(Locale.ROOT));
  }

  /** Returns the windows, stated or following from the samples of a micro-step. */
  public WindowLength windows(OptionalInt microBatch) {
    return kSteps != null
        ? kSteps
        : WindowLength.of(Objects.requireNonNull(globalBatch) / microBatch.orElseThrow());
  }

  @Override
  public List<PlanIssue> issues(PlanFacts facts) {
    var refusal = globalBatch == null ? null : refusal(globalBatch, facts.microBatch());
    if (refusal != null) {
      return List.of(refusal);
    }
    var length = windows(facts.microBatch());
    if (length.isAlwaysOne()) {
      return List.of(
          PlanIssue.warning(
              "gradient_merge has no effect with k_steps 1", "raise it or remove it"));
    }
    List<PlanIssue> issues = new ArrayList<>();
    if (weighting == Weighting.MICRO_BATCHES && facts.model().objective().parts().isPresent()) {
      issues.add(
          PlanIssue.error(
              "weighting: micro_batches takes each micro-batch's own mean, but the objective"
                  + " divides by numbers of the whole window",
              "use weighting: terms"));
    }
    if (facts.hasBatchStatistics() && !facts.has(Property.POOLS_STATISTICS)) {
      issues.add(
          PlanIssue.warning(
              "BatchNorm sees micro-batches, so merging is not the same as one large batch",
              "use %s, or normalization: group where the model has it"
                  .formatted(Remedy.POOLED_STATISTICS.named())));
    }
    if (facts.optimizer().scaleLr() == LrScaling.NONE) {
      issues.add(
          PlanIssue.warning(
              "merging makes the batch %d times larger at the same learning rate"
                  .formatted(length.longest()),
              "consider optimizer.scale_lr: linear or sqrt, with base_batch"));
    }
    return issues;
  }

  private static @Nullable PlanIssue refusal(int samples, OptionalInt microBatch) {
    if (microBatch.isEmpty()) {
      return PlanIssue.error(
          "gradient_merge.global_batch needs the size of a micro-batch", "call microBatch(n)");
    }
    int unit = microBatch.getAsInt();
    if (samples % unit == 0) {
      return null;
    }
    int below = samples / unit * unit;
    return PlanIssue.error(
        "gradient_merge.global_batch %d is no multiple of the %d samples of a micro-step"
            .formatted(samples, unit),
        below == 0 ? "use %d".formatted(unit) : "use %d or %d".formatted(below, below + unit));
  }
}
