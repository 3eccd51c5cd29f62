package dev.flotilla.pass;

import dev.flotilla.metric.MetricValue;
import dev.flotilla.model.Score;
import dev.flotilla.text.NearestName;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * How well a model does on data it was not trained on.
 *
 * @param loss mean loss per term
 * @param score right answers
 * @param samples samples evaluated over all ranks, each once
 * @param metrics what else was asked for, by name
 */
public record Evaluation(
    double loss, Score score, long samples, SequencedMap<String, MetricValue> metrics) {

  /** The name of the loss among {@link #values}. */
  public static final String LOSS = "loss";

  /** Names among {@link #values} that a classifier has. */
  public static final List<String> OF_CLASSES = List.of("accuracy", "accuracy_top5");

  /** Copies the metrics. */
  public Evaluation {
    metrics = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(metrics));
  }

  /** States an evaluation without metrics. */
  public Evaluation(double loss, Score score, long samples) {
    this(loss, score, samples, new LinkedHashMap<>());
  }

  /** Returns all numbers by name: the loss, accuracy where the objective has it, and metrics. */
  public Map<String, Double> values() {
    Map<String, Double> values = new LinkedHashMap<>();
    values.put(LOSS, loss);
    if (score.total() > 0) {
      values.put(OF_CLASSES.getFirst(), score.acc1());
      values.put(OF_CLASSES.getLast(), score.acc5());
    }
    metrics.forEach((name, value) -> values.put(name, value.value()));
    return values;
  }

  /**
   * Returns this evaluation with all values of one on other data, or of other weights, called
   * {@code name/value}.
   */
  public Evaluation with(String name, Evaluation other) {
    var all = new LinkedHashMap<>(metrics);
    other
        .values()
        .forEach((key, value) -> all.put(name + "/" + key, new MetricValue(value, List.of())));
    other.metrics().forEach((key, value) -> all.put(name + "/" + key, value));
    return new Evaluation(loss, score, samples, all);
  }

  /**
   * Returns a number by its name.
   *
   * @throws IllegalArgumentException if nothing of this name was measured
   */
  public double value(String name) {
    var values = values();
    var value = values.get(name);
    if (value == null) {
      throw new IllegalArgumentException(
          "no metric '%s' was measured%s (there are %s)"
              .formatted(
                  name,
                  NearestName.hint(name, values.keySet()),
                  String.join(", ", values.keySet())));
    }
    return value;
  }

  /** Returns metrics as events and summaries show them. */
  public Map<String, Object> shownMetrics() {
    Map<String, Object> shown = new LinkedHashMap<>();
    metrics.forEach((name, value) -> shown.put(name, value.shown()));
    return shown;
  }
}
