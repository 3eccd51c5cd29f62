package dev.flotilla.config;

import dev.flotilla.engine.StepPlan;
import dev.flotilla.strategy.PlanIssue;
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
    long microSteps = Math.ceilDiv(samples.getAsInt(), microBatch);
    var count = plan.updateCount(OptionalInt.of(microBatch), microSteps);
    return OptionalLong.of(count.in(Objects.requireNonNull(config.epochs())));
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
