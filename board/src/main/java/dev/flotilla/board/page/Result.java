package dev.flotilla.board.page;

import dev.flotilla.board.run.Run;
import dev.flotilla.board.run.Series;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.IntStream;

/**
 * One thing that a run has achieved, as tables compare it.
 *
 * @param name what it is
 * @param value a number
 * @param unit {@code %} for a fraction, {@code B} for bytes, {@code s} for seconds, or empty
 */
record Result(String name, double value, String unit) {

  /** Returns what a run has achieved; that of one which has not ended comes from its curves. */
  static List<Result> of(Run run) {
    var found = new Finder(run);
    found.add("accuracy", "%", found.stated("accuracy"), found.last("accuracy", "test"));
    found.addMetrics();
    found.add("test loss", "", found.stated("loss"), found.last("loss", "test"));
    found.add("training loss", "", found.stated("train_loss"), found.last("loss", "training"));
    found.add("samples/s", "", found.stated("samples_per_second"), found.mean("throughput"));
    found.add("peak memory", "B", found.stated("peak_rss_bytes"), found.most("memory", "resident"));
    found.add(
        "peak GPU memory",
        "B",
        found.stated("peak_device_bytes"),
        found.most("memory", "GPU peak"));
    found.add("bytes sent", "B", found.stated("bytes_sent"), found.last("bytes sent", ""));
    found.add("updates", "", found.stated("updates"), OptionalDouble.of(run.update()));
    found.add(
        "time",
        "s",
        found.stated("wall_seconds"),
        OptionalDouble.of(run.elapsed().toMillis() / 1e3));
    return List.copyOf(found.results);
  }

  private record Finder(Run run, List<Result> results) {

    Finder(Run run) {
      this(run, new ArrayList<>());
    }

    void add(String name, String unit, OptionalDouble stated, OptionalDouble otherwise) {
      var value = stated.isPresent() ? stated : otherwise;
      value.ifPresent(it -> results.add(new Result(name, it, unit)));
    }

    void addMetrics() {
      if (run.summary().get("metrics") instanceof Map<?, ?> metrics) {
        metrics.forEach(
            (name, value) -> {
              if (value instanceof Number number) {
                boolean isShare = String.valueOf(name).contains("accuracy");
                results.add(
                    new Result(String.valueOf(name), number.doubleValue(), isShare ? "%" : ""));
              }
            });
      }
    }

    OptionalDouble stated(String key) {
      return run.summary().get(key) instanceof Number number
          ? OptionalDouble.of(number.doubleValue())
          : OptionalDouble.empty();
    }

    OptionalDouble last(String chart, String line) {
      return run.series(chart, line)
          .map(it -> OptionalDouble.of(it.last()))
          .orElse(OptionalDouble.empty());
    }

    OptionalDouble most(String chart, String line) {
      return run.series(chart, line)
          .map(it -> IntStream.range(0, it.size()).mapToDouble(it::value).max())
          .orElse(OptionalDouble.empty());
    }

    OptionalDouble mean(String chart) {
      return run.series(chart, "").map(Finder::mean).orElse(OptionalDouble.empty());
    }

    private static OptionalDouble mean(Series series) {
      return IntStream.range(0, series.size()).mapToDouble(series::value).average();
    }
  }
}
