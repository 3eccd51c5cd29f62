package dev.flotilla.board.page;

import dev.flotilla.board.run.Run;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Something that was predicted before, and measured in the run.
 *
 * @param name what
 * @param predicted before
 * @param measured in the run, NaN if it was not
 * @param unit {@code B}, {@code s} or empty
 */
record Planned(String name, double predicted, double measured, String unit) {

  private static final String PREDICTED = "predicted_";
  private static final String MEASURED = "measured_";

  /** Returns what a run has of it; techniques state such pairs in its summary. */
  static List<Planned> of(Run run) {
    List<Planned> all = new ArrayList<>();
    if (run.totalUpdates() > 0) {
      all.add(new Planned("updates", run.totalUpdates(), run.update(), ""));
    }
    if (run.stateBytes() > 0) {
      boolean isDevice = run.summary().containsKey("peak_device_bytes");
      double peak = number(run.summary().get(isDevice ? "peak_device_bytes" : "peak_rss_bytes"));
      all.add(
          new Planned(
              "parameters, gradients and optimizer of a rank; measured: all of its "
                  + (isDevice ? "GPU memory" : "process"),
              run.stateBytes(),
              peak,
              "B"));
    }
    pairs(all, "", run.summary());
    return all;
  }

  private static void pairs(List<Planned> all, String prefix, Map<?, ?> values) {
    values.forEach(
        (key, value) -> {
          var name = String.valueOf(key);
          if (value instanceof Map<?, ?> nested) {
            pairs(all, prefix + name + ": ", nested);
          } else if (name.startsWith(PREDICTED) && value instanceof Number number) {
            var what = name.substring(PREDICTED.length());
            all.add(
                new Planned(
                    prefix + what.replace('_', ' '),
                    number.doubleValue(),
                    number(values.get(MEASURED + what)),
                    what.endsWith("bytes") ? "B" : what.endsWith("seconds") ? "s" : ""));
          }
        });
  }

  private static double number(@Nullable Object value) {
    return value instanceof Number number ? number.doubleValue() : Double.NaN;
  }

  List<@Nullable Object> cells() {
    List<@Nullable Object> cells = new ArrayList<>();
    cells.add(name);
    cells.add(RunJson.number(predicted));
    cells.add(RunJson.number(measured));
    cells.add(unit);
    return cells;
  }
}
