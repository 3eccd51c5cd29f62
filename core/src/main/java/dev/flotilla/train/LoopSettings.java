package dev.flotilla.train;

import dev.flotilla.data.Dataset;
import org.jspecify.annotations.Nullable;

/**
 * When a fit logs and evaluates.
 *
 * @param logEvery updates between logged updates
 * @param testData what to evaluate on, or null for no evaluation
 * @param evaluateEvery updates between evaluations; 0 for the end of each epoch, -1 for the end
 *     only
 * @param evaluationBatch samples evaluated at once
 * @param maxUpdates updates after which the fit ends, or 0 for no limit
 */
public record LoopSettings(
    int logEvery,
    @Nullable Dataset testData,
    long evaluateEvery,
    int evaluationBatch,
    long maxUpdates) {

  /** Evaluate at the end of each epoch. */
  public static final long EACH_EPOCH = 0;

  /** Evaluate at the end of the fit only. */
  public static final long AT_END = -1;

  /** Logs every tenth update and evaluates nothing. */
  public static LoopSettings defaults() {
    return new LoopSettings(10, null, EACH_EPOCH, 256, 0);
  }

  /** Returns the same settings with another number of samples that are evaluated at once. */
  public LoopSettings withEvaluationBatch(int samples) {
    return new LoopSettings(logEvery, testData, evaluateEvery, samples, maxUpdates);
  }
}
