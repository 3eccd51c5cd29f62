package dev.flotilla.config;

import dev.flotilla.data.BatchSource;
import dev.flotilla.memory.Precision;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import dev.flotilla.strategy.PlanRejectedException;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.merge.WindowLength;
import dev.flotilla.verify.Verification;
import dev.flotilla.verify.Verifier;
import dev.flotilla.world.World;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/** Compares a recipe's merged micro-batches with one large batch each, in this process alone. */
public final class RecipeVerification {

  private final RunConfig config;
  private final ConfiguredRun run;
  private final GradientMerge merge;
  private final WindowLength windows;
  private final int kSteps;

  /**
   * Checks that there is something to compare.
   *
   * @throws ConfigException if the recipe does not merge, or is wrong
   */
  public RecipeVerification(RunConfig config) {
    this.config = config;
    run = new ConfiguredRun(config, World.solo());
    merge =
        config.strategy().stream()
            .filter(GradientMerge.class::isInstance)
            .map(GradientMerge.class::cast)
            .findFirst()
            .orElseThrow(() -> nothingToCompare("the recipe does not merge gradients"));
    run.plan();
    windows = merge.windows(OptionalInt.of(run.globalBatch()));
    kSteps = windows.longest();
    if (kSteps == 1) {
      throw nothingToCompare("an accumulation window of one micro-batch is the large batch itself");
    }
  }

  private ConfigException nothingToCompare(String reason) {
    String key = "strategy.gradient_merge.k_steps";
    return new ConfigException(
        List.of(
            new Problem(
                config.origin().placeOf(key).text(),
                key,
                "there is nothing to compare, because " + reason,
                "set it to more than 1, for example with --set " + key + "=4")));
  }

  /**
   * Runs the comparison.
   *
   * @param count number of windows, at least 1
   */
  public Verification run(int count) {
    var source = run.source();
    List<Strategy> others = new ArrayList<>();
    List<String> notes = new ArrayList<>();
    for (var technique : run.config().techniques()) {
      if (technique.equals(merge)) {
        continue;
      }
      if (technique.properties().contains(Property.SHARDS_STATE)) {
        notes.add(
            "%s is left out on both sides: one process compares, and shares nothing out."
                .formatted(technique.key()));
      } else if (worksInFloat64(technique)) {
        others.add(technique);
      } else {
        notes.add(
            "%s is left out on both sides: float64 decides, and it cannot work there."
                .formatted(technique.key()));
      }
    }
    var subject =
        new Verifier.Subject(
            config.trained(), () -> run.describe(_ -> {}), others, source, updates(source));
    return withNotes(new Verifier(subject, kSteps, count).verify(constant()), notes);
  }

  /** The recipe as it is has been accepted, so whatever is refused here is so for float64. */
  private boolean worksInFloat64(Strategy technique) {
    try {
      run.describe(_ -> {})
          .model(config.trained())
          .precision(Precision.FLOAT64)
          .strategy(technique)
          .plan();
      return true;
    } catch (PlanRejectedException rejection) {
      return false;
    }
  }

  private boolean isSchedule() {
    return windows.byUpdate().size() > 1;
  }

  /** A schedule reaches its longest windows late; the few windows here are of that length. */
  private Strategy constant() {
    return new GradientMerge(
        WindowLength.of(kSteps), null, merge.avg(), merge.tail(), merge.weighting());
  }

  private Verification withNotes(Verification result, List<String> notes) {
    if (isSchedule()) {
      notes.add(
          "k_steps is a schedule; its longest windows are compared, of %d micro-batches."
              .formatted(kSteps));
    }
    var noted = result;
    for (var note : notes) {
      noted = noted.with(note);
    }
    return noted;
  }

  private long updates(BatchSource source) {
    Long limit = config.maxSteps();
    Integer epochs = config.epochs();
    long perEpoch = Math.ceilDiv(source.batchesPerEpoch(1), kSteps);
    return limit != null ? limit : perEpoch * (epochs == null ? 1 : epochs);
  }
}
