package dev.flotilla.board.run;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Sorts the numbers of events into curves, and those into charts. */
final class Curves {

  private static final Series.Key LOSS = new Series.Key("loss", "training", "");
  private static final Series.Key TEST_LOSS = new Series.Key("loss", "test", "");
  private static final Series.Key ACCURACY = new Series.Key("accuracy", "training batch", "");
  private static final Series.Key TEST_ACCURACY = new Series.Key("accuracy", "test", "");
  private static final Series.Key TOP5 = new Series.Key("accuracy_top5", "training batch", "");
  private static final Series.Key TEST_TOP5 = new Series.Key("accuracy_top5", "test", "");
  private static final Series.Key LR = new Series.Key("learning rate", "", "");
  private static final Series.Key SPEED = new Series.Key("throughput", "", "samples/s");
  private static final Series.Key GPU = new Series.Key("memory", "GPU", "B");
  private static final Series.Key GPU_PEAK = new Series.Key("memory", "GPU peak", "B");
  private static final Series.Key RESIDENT = new Series.Key("memory", "resident", "B");
  private static final Series.Key SENT = new Series.Key("bytes sent", "", "B");
  private static final Series.Key DENSITY = new Series.Key("density", "", "");
  private static final Series.Key INTERVAL = new Series.Key("averaging interval", "", "updates");
  private static final Series.Key DRIFT = new Series.Key("drift", "mean", "");
  private static final Series.Key LARGEST_DRIFT = new Series.Key("drift", "largest", "");

  private final Map<Series.Key, Points> curves = new LinkedHashMap<>();

  void updated(Map<String, Object> event, long update) {
    add(LOSS, update, event.get("loss"));
    add(ACCURACY, update, event.get("acc1"));
    add(TOP5, update, event.get("acc5"));
    add(LR, update, event.get("lr"));
    add(SPEED, update, event.get("samples_per_second"));
  }

  void evaluated(Map<String, Object> event, long update) {
    add(TEST_LOSS, update, event.get("loss"));
    add(TEST_ACCURACY, update, event.get("acc1"));
    add(TEST_TOP5, update, event.get("acc5"));
    metrics(Json.object(event.get("metrics")), update);
  }

  /** Those of the moving average are drawn beside what they are an average of. */
  void metrics(Map<String, Object> values, long update) {
    values.forEach(
        (name, value) -> {
          boolean isAverage = name.startsWith("ema/");
          var chart = isAverage ? name.substring(4) : name;
          add(new Series.Key(chart, isAverage ? "ema" : "test", ""), update, value);
        });
  }

  void deviceUsed(Map<String, Object> event, long update) {
    add(GPU, update, event.get("live_bytes"));
    add(GPU_PEAK, update, event.get("peak_bytes"));
  }

  void averaged(Map<String, Object> event, long update) {
    add(INTERVAL, update, event.get("interval"));
    add(DRIFT, update, event.get("drift_mean"));
    add(LARGEST_DRIFT, update, event.get("drift_largest"));
  }

  void measured(Map<String, Object> event, long update) {
    add(RESIDENT, update, event.get("resident_bytes"));
    if (curves.containsKey(SENT) || Json.number(event.get("bytes_sent")) > 0) {
      add(SENT, update, event.get("bytes_sent"));
    }
    add(DENSITY, update, event.get("density"));
  }

  /** The run goes on from here: what was measured behind it is void. */
  void cutBehind(long update) {
    curves.values().forEach(it -> it.cutFrom(update + 1));
  }

  /** Adds what is a number; rows of counts, as of a confusion matrix, are not drawn. */
  private void add(Series.Key key, long update, @Nullable Object value) {
    if (value instanceof Number || Json.isNotFinite(value)) {
      curves.computeIfAbsent(key, _ -> new Points()).add(update, Json.number(value));
    }
  }

  List<Series> series() {
    return curves.entrySet().stream()
        .filter(it -> !it.getValue().isEmpty())
        .map(it -> it.getValue().series(it.getKey()))
        .toList();
  }
}
