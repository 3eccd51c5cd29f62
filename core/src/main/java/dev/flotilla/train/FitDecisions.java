package dev.flotilla.train;

import dev.flotilla.checkpoint.Position;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a fit decides after an evaluation: whether it ends, whether the learning rate falls, and
 * whether its checkpoint is the best.
 *
 * <p>All ranks have the same values, and so decide alike. What was seen is part of the fit's
 * progress, which checkpoints remember.
 */
final class FitDecisions {

  private final TrainerSettings settings;
  private final FitProgress progress;
  private final LearningRate rate;

  FitDecisions(TrainerSettings settings, FitProgress progress, LearningRate rate) {
    this.settings = settings;
    this.progress = progress;
    this.rate = rate;
  }

  /**
   * Refuses decisions that nothing can lead to.
   *
   * @throws ConfigException if one looks at evaluations, and there is no data for them
   */
  void requireEvaluations() {
    if (settings.loop().testData() != null) {
      return;
    }
    Map<String, Boolean> decides =
        Map.of(
            "stop_when",
            settings.stopWhen() != null,
            "schedule",
            settings.schedule() instanceof Plateau,
            "checkpoint.best",
            bestMetric() != null);
    var keys = decides.entrySet().stream().filter(Map.Entry::getValue).map(Map.Entry::getKey);
    keys.max(Comparator.naturalOrder())
        .ifPresent(
            key -> {
              throw new ConfigException(
                  key, "looks at evaluations, but the loop has no test data: set loop(...)");
            });
  }

  /** Takes an evaluation into account. */
  void after(Evaluation evaluation, Position position) {
    watch(evaluation, position);
    if (settings.schedule() instanceof Plateau plateau) {
      watch(plateau, evaluation, position);
    }
    var best = bestMetric();
    if (best != null) {
      boolean isHigher = WatchedValue.isHigherBetter(best, settings.metrics());
      progress.isBestNow =
          progress.best.see(evaluation.value(best), isHigher, 0, position) || progress.isBestNow;
    }
  }

  /** Ends the fit because a callback asks for it. */
  void stop(String reason, long updates) {
    if (!progress.isStopped) {
      progress.isStopped = true;
      progress.stopReason = reason;
      var text = "stopped early after update %d: %s".formatted(updates, reason);
      settings.events().on(new TrainingEvent.Noted(text));
    }
  }

  private @Nullable String bestMetric() {
    var checkpoints = settings.checkpoints();
    return checkpoints == null ? null : checkpoints.best();
  }

  private void watch(Plateau plateau, Evaluation evaluation, Position position) {
    boolean isHigher = plateau.isHigherBetter(settings.metrics());
    var seen = progress.plateau;
    seen.see(evaluation.value(plateau.metric()), isHigher, plateau.minDelta(), position);
    if (seen.since() >= plateau.patience()) {
      seen.countAnew();
      rate.fall(plateau.gamma(), plateau.endFactor());
      settings
          .events()
          .on(
              new TrainingEvent.Noted(
                  "the learning rate falls after update %d: %s was no better in %d evaluations"
                      .formatted(position.updates(), plateau.metric(), plateau.patience())));
    }
  }

  private void watch(Evaluation evaluation, Position position) {
    var stop = settings.stopWhen();
    if (stop == null || progress.isStopped) {
      return;
    }
    boolean isHigher = stop.isHigherBetter(settings.metrics());
    progress.watched.see(stop.in(evaluation), isHigher, stop.minDelta(), position);
    if (progress.watched.since() >= stop.patience()) {
      progress.isStopped = true;
      settings.events().on(new TrainingEvent.Noted(text(stop, position)));
    }
  }

  private String text(StopWhen stop, Position position) {
    String best =
        progress.watched.isKnown()
            ? String.format(
                Locale.ROOT,
                "best %.6g after update %d",
                progress.watched.value(),
                progress.watched.position().updates())
            : "never a number";
    return "stopped early after update %d: %s was no better in %d evaluation%s (%s)"
        .formatted(
            position.updates(),
            stop.metric(),
            stop.patience(),
            stop.patience() == 1 ? "" : "s",
            best);
  }

  /** Returns what the run's summary says of it. */
  Map<String, Object> forSummary() {
    Map<String, Object> facts = new LinkedHashMap<>();
    var stop = settings.stopWhen();
    if (!progress.stopReason.isEmpty()) {
      facts.put("stopped_early", Map.of("reason", progress.stopReason));
    } else if (stop != null && progress.isStopped) {
      facts.put("stopped_early", seen(stop.metric(), progress.watched));
    }
    var best = bestMetric();
    if (best != null && progress.best.isKnown()) {
      var seen = seen(best, progress.best);
      seen.put("checkpoint", progress.best.position().folderName());
      facts.put("best", seen);
    }
    return facts;
  }

  private static Map<String, Object> seen(String metric, BestValue best) {
    Map<String, Object> seen = new LinkedHashMap<>();
    seen.put("metric", metric);
    seen.put("value", best.value());
    seen.put("update", best.position().updates());
    return seen;
  }
}
