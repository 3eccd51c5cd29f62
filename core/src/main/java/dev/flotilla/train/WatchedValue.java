package dev.flotilla.train;

import dev.flotilla.metric.Metric;
import dev.flotilla.model.Task;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.text.NearestName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** The values of an evaluation that decisions may name. */
public final class WatchedValue {

  private WatchedValue() {}

  /**
   * Returns what is wrong with a name.
   *
   * @param metrics what evaluations measure besides loss and accuracy
   * @param task what the model is asked for
   * @param average the name of a moving average that is evaluated too, if there is one
   * @param sets names of the data that is evaluated on besides the test data
   */
  public static Optional<String> problem(
      String name,
      List<Metric> metrics,
      Task task,
      Optional<String> average,
      Collection<String> sets) {
    List<String> known = new ArrayList<>();
    known.add(Evaluation.LOSS);
    if (task != Task.REGRESSION) {
      known.addAll(Evaluation.OF_CLASSES);
    }
    metrics.forEach(metric -> known.add(metric.name()));
    average.ifPresent(it -> List.copyOf(known).forEach(value -> known.add(it + "/" + value)));
    var ofTestData = List.copyOf(known);
    sets.forEach(set -> ofTestData.forEach(value -> known.add(set + "/" + value)));
    return known.contains(name)
        ? Optional.empty()
        : Optional.of(
            "'%s' is not measured%s (there are %s; more under metrics)"
                .formatted(name, NearestName.hint(name, known), String.join(", ", known)));
  }

  static boolean isHigherBetter(String name, List<Metric> metrics) {
    // Values of other data, or of a moving average, are called as the model's behind their names.
    var plain = name.substring(name.lastIndexOf('/') + 1);
    return metrics.stream()
        .filter(metric -> metric.name().equals(name) || metric.name().equals(plain))
        .findFirst()
        .map(Metric::higherIsBetter)
        .orElse(!plain.equals(Evaluation.LOSS));
  }
}
