package dev.flotilla.train;

import dev.flotilla.data.Dataset;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.ConfigException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * When a fit logs, evaluates and ends; immutable, each method returns settings that differ in one
 * thing.
 *
 * <pre>{@code
 * LoopSettings.defaults().evaluateOn(test).also("hard", hard).each(Every.epoch()).inBatchesOf(64)
 * }</pre>
 */
public final class LoopSettings {

  /** What the name of a set of data must be. */
  public static final String NAME_RULE = "names must be of letters, digits, _ and -";

  private static final LoopSettings DEFAULTS =
      new LoopSettings(Every.updates(10), null, new LinkedHashMap<>(), Every.epoch(), 256, 0);

  private final Every.Updates logEvery;
  private final @Nullable Dataset testData;
  private final SequencedMap<String, Dataset> others;
  private final Every evaluateEvery;
  private final int evaluationBatch;
  private final long maxUpdates;

  private LoopSettings(
      Every.Updates logEvery,
      @Nullable Dataset testData,
      SequencedMap<String, Dataset> others,
      Every evaluateEvery,
      int evaluationBatch,
      long maxUpdates) {
    this.logEvery = logEvery;
    this.testData = testData;
    this.others = Collections.unmodifiableSequencedMap(others);
    this.evaluateEvery = evaluateEvery;
    this.evaluationBatch = evaluationBatch;
    this.maxUpdates = maxUpdates;
  }

  /** Logs every tenth update, evaluates nothing, and has no end of its own. */
  public static LoopSettings defaults() {
    return DEFAULTS;
  }

  /** Logs each so many updates; 10 by default. */
  public LoopSettings logEach(Every.Updates when) {
    return new LoopSettings(when, testData, others, evaluateEvery, evaluationBatch, maxUpdates);
  }

  /** Evaluates on data; by default there is no evaluation. */
  public LoopSettings evaluateOn(@Nullable Dataset data) {
    return new LoopSettings(logEvery, data, others, evaluateEvery, evaluationBatch, maxUpdates);
  }

  /**
   * Evaluates on other data too, in the same places; its values are called {@code name/loss},
   * {@code name/accuracy} and so on.
   *
   * @throws ConfigException if the name cannot be one, or is used already
   */
  public LoopSettings also(String name, Dataset data) {
    Check.that(isName(name), "eval.also", NAME_RULE, "'" + name + "'").orThrow();
    if (others.containsKey(name)) {
      throw new ConfigException("eval.also", "there are two sets called '" + name + "'");
    }
    var more = new LinkedHashMap<>(others);
    more.put(name, data);
    return new LoopSettings(logEvery, testData, more, evaluateEvery, evaluationBatch, maxUpdates);
  }

  /** Tells whether data may be called so. */
  public static boolean isName(String name) {
    return name.matches("[A-Za-z0-9_-]+");
  }

  /** Evaluates at these times; after each epoch by default. */
  public LoopSettings each(Every when) {
    return new LoopSettings(logEvery, testData, others, when, evaluationBatch, maxUpdates);
  }

  /** Evaluates so many samples at once; 256 by default. */
  public LoopSettings inBatchesOf(int samples) {
    Check.that(samples >= 1, "eval.batch", "must be at least 1", samples).orThrow();
    return new LoopSettings(logEvery, testData, others, evaluateEvery, samples, maxUpdates);
  }

  /** Ends a fit after so many updates, whatever the epochs; by default the epochs decide. */
  public LoopSettings endAfterUpdates(long updates) {
    Check.that(updates >= 1, "max_steps", "must be at least 1", updates).orThrow();
    return new LoopSettings(logEvery, testData, others, evaluateEvery, evaluationBatch, updates);
  }

  Every.Updates logEvery() {
    return logEvery;
  }

  @Nullable Dataset testData() {
    return testData;
  }

  /** Returns what else is evaluated on, by name. */
  SequencedMap<String, Dataset> others() {
    return others;
  }

  Every evaluateEvery() {
    return evaluateEvery;
  }

  int evaluationBatch() {
    return evaluationBatch;
  }

  /** Returns the updates after which a fit ends, or 0 for no limit. */
  long maxUpdates() {
    return maxUpdates;
  }
}
