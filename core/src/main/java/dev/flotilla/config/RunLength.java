package dev.flotilla.config;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.step.StepPlan;
import dev.flotilla.step.UpdateCount;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.merge.GradientMerge;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** How long a run is, as far as that is known before its data is read. */
public final class RunLength {

  private final RunConfig config;
  private final int microBatch;
  private final OptionalInt samples;
  private final StepPlan plan;

  /**
   * Creates the length of a run.
   *
   * @param microBatch samples of a micro-step over all ranks
   */
  RunLength(RunConfig config, int microBatch, StepPlan plan) {
    this.config = config;
    this.microBatch = microBatch;
    this.samples = config.data().trainingSize();
    this.plan = plan;
  }

  /** Returns the number of updates, where it is stated or the size of the data is known. */
  public OptionalLong updates() {
    var maxSteps = config.maxSteps();
    if (maxSteps != null) {
      return OptionalLong.of(maxSteps);
    }
    if (samples.isEmpty()) {
      return OptionalLong.empty();
    }
    return OptionalLong.of(count().in(Objects.requireNonNull(config.epochs())));
  }

  private UpdateCount count() {
    return plan.updateCount(OptionalInt.of(microBatch), microStepsPerEpoch());
  }

  private long microStepsPerEpoch() {
    return Math.ceilDiv(samples.orElseThrow(), microBatch);
  }

  /**
   * Checks that the run makes the updates that it is to make.
   *
   * @throws ConfigException if windows are longer than epochs, and what an epoch leaves is dropped
   */
  void requireUpdates() {
    if (samples.isEmpty()) {
      return;
    }
    var maxSteps = config.maxSteps();
    boolean isInVain =
        maxSteps == null ? updates().orElseThrow() == 0 : count().epochsFor(maxSteps).isEmpty();
    if (isInVain) {
      var problems = new Problems();
      String key = windowKey();
      String message =
          "%s: an epoch has %,d micro-steps of %,d samples, which do not fill an accumulation window"
              .formatted(
                  maxSteps == null
                      ? "no update is made in all epochs"
                      : "max_steps %,d is never reached".formatted(maxSteps),
                  microStepsPerEpoch(),
                  microBatch);
      problems.add(
          config.origin().placeOf(key),
          key,
          message,
          "lower it, or the batch, or set strategy.gradient_merge.tail to flush");
      problems.orThrow();
    }
  }

  /** Returns the key that makes windows long. */
  private String windowKey() {
    return config.strategy().stream()
        .filter(GradientMerge.class::isInstance)
        .map(GradientMerge.class::cast)
        .findFirst()
        .map(
            merge ->
                "strategy.gradient_merge." + (merge.kSteps() == null ? "global_batch" : "k_steps"))
        .orElse("strategy");
  }

  /** Returns what a reader of the recipe would not expect of a run of this length. */
  List<PlanIssue> warnings() {
    List<PlanIssue> warnings = new ArrayList<>();
    if (samples.isPresent() && microBatch > samples.getAsInt()) {
      warnings.add(
          PlanIssue.warning(
              "a step takes %,d samples over all ranks, but the training data has %,d: every step"
                      .formatted(microBatch, samples.getAsInt())
                  + " takes all of them",
              "lower batch or global_batch"));
    }
    long warmup = config.schedule().warmupSteps();
    updates()
        .ifPresent(
            updates -> {
              if (warmup > 0 && warmup >= updates) {
                warnings.add(
                    PlanIssue.warning(
                        "the warm-up of %,d updates is as long as the run of %,d or longer, so that"
                                .formatted(warmup, updates)
                            + " the rate only rises",
                        "lower schedule.warmup_steps"));
              }
            });
    return warnings;
  }
}
