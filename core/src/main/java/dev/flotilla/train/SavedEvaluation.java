package dev.flotilla.train;

import dev.flotilla.metric.MetricValue;
import dev.flotilla.model.Score;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.state.State;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.stream.Collectors;

/** An evaluation as checkpoints remember it. */
final class SavedEvaluation {

  private SavedEvaluation() {}

  /** Puts an evaluation down, or takes up the one that was saved. */
  static Evaluation remember(State state, Evaluation last) {
    return new Evaluation(
        state.real("loss", last.loss()),
        new Score(
            state.number("top1", last.score().top1()),
            state.number("top5", last.score().top5()),
            state.number("total", last.score().total())),
        state.number("samples", last.samples()),
        metrics(state, last.metrics()));
  }

  private static SequencedMap<String, MetricValue> metrics(
      State state, SequencedMap<String, MetricValue> last) {
    var names = List.copyOf(last.keySet());
    // Earlier versions had no metrics.
    var saved = state.has("metrics") ? state.text("metrics", String.join(",", names)) : "";
    var values = new LinkedHashMap<String, MetricValue>();
    for (var name : saved.isEmpty() ? List.<String>of() : List.of(saved.split(",", -1))) {
      var value = last.getOrDefault(name, new MetricValue(0, List.of()));
      var part = state.part("metrics/" + name);
      values.put(
          name,
          new MetricValue(
              part.real("value", value.value()), table(part.text("table", text(value.table())))));
    }
    return values;
  }

  private static String text(List<List<Long>> table) {
    return table.stream()
        .map(row -> row.stream().map(String::valueOf).collect(Collectors.joining(" ")))
        .collect(Collectors.joining("\n"));
  }

  private static List<List<Long>> table(String text) {
    return text.lines()
        .map(row -> Arrays.stream(row.split(" ", -1)).map(Long::valueOf).toList())
        .toList();
  }
}
