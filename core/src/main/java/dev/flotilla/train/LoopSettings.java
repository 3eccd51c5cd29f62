package dev.flotilla.train;

import dev.flotilla.data.Dataset;
import org.jspecify.annotations.Nullable;

/**
 * When a fit logs and evaluates.
 *
 * @param logEvery updates between logged updates
 * @param testData what to evaluate on, or null for no evaluation
 * @param evaluateEvery when to evaluate
 * @param evaluationBatch samples evaluated at once
 * @param maxUpdates updates after which the fit ends, or 0 for no limit
 */
public record LoopSettings(
    Every.Updates logEvery,
    @Nullable Dataset testData,
    Every evaluateEvery,
    int evaluationBatch,
    long maxUpdates) {

  /** Logs every tenth update and evaluates nothing. */
  public static LoopSettings defaults() {
    return new LoopSettings(Every.updates(10), null, Every.epoch(), 256, 0);
  }

  /** Returns the same settings with data to evaluate on. */
  public LoopSettings evaluateOn(Dataset data) {
    return new LoopSettings(logEvery, data, evaluateEvery, evaluationBatch, maxUpdates);
  }

  /** Returns the same settings with other times to evaluate at. */
  public LoopSettings each(Every when) {
    return new LoopSettings(logEvery, testData, when, evaluationBatch, maxUpdates);
  }

  /** Returns the same settings with another number of samples that are evaluated at once. */
  public LoopSettings withEvaluationBatch(int samples) {
    return new LoopSettings(logEvery, testData, evaluateEvery, samples, maxUpdates);
  }
}
