package dev.flotilla.metric;

import dev.flotilla.model.Task;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What is wrong with a list of metrics. */
public final class Metrics {

  private Metrics() {}

  /**
   * Returns what is wrong with each metric, in order; nothing for one that is right.
   *
   * @param task what the model is asked for
   */
  public static List<Optional<String>> problems(List<? extends Metric> metrics, Task task) {
    List<String> names = new ArrayList<>();
    List<Optional<String>> problems = new ArrayList<>();
    for (var metric : metrics) {
      problems.add(problem(metric, names, task));
      names.add(metric.name());
    }
    return problems;
  }

  private static Optional<String> problem(Metric metric, List<String> before, Task task) {
    if (before.contains(metric.name())) {
      return Optional.of("%s is asked for a second time".formatted(metric.name()));
    }
    return metric.suits(task)
        ? Optional.empty()
        : Optional.of(
            "%s cannot judge a model that is trained for %s"
                .formatted(metric.name(), task.name().toLowerCase(Locale.ROOT)));
  }
}
