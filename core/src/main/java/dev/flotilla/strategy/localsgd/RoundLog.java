package dev.flotilla.strategy.localsgd;

import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.state.State;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the run's record says about its rounds. */
final class RoundLog {

  private final EventSink events;
  private final Waiting waiting;
  private final Map<Long, Long> intervals = new TreeMap<>();
  private long rounds;
  private long lastInterval;
  private double largestDrift;

  RoundLog(EventSink events, int ranks, int rank) {
    this.events = events;
    this.waiting = new Waiting(ranks, rank);
  }

  Waiting waiting() {
    return waiting;
  }

  /** Takes note of an average that has arrived. */
  void add(SyncSteps steps, RoundNumbers numbers, double blocked) {
    rounds++;
    long interval = steps.lastInterval();
    if (interval != lastInterval) {
      intervals.put(steps.made(), interval);
      lastInterval = interval;
    }
    waiting.add(numbers.seconds(), blocked);
    var drifts = numbers.drifts().summaryStatistics();
    largestDrift = Math.max(largestDrift, drifts.getMax());
    if (!steps.isStart()) {
      events.on(
          new TrainingEvent.Averaged(
              steps.made(),
              interval,
              drifts.getAverage(),
              drifts.getMax(),
              numbers.totals().meanLoss(),
              blocked));
    }
  }

  /** Returns what summary.json holds, with the interval as it changed over updates. */
  Map<String, Object> metrics() {
    Map<String, Object> metrics = new LinkedHashMap<>();
    metrics.put("averages", rounds);
    metrics.put("last_interval", lastInterval);
    metrics.put(
        "interval_from_update",
        intervals.entrySet().stream().map(e -> List.of(e.getKey(), e.getValue())).toList());
    metrics.put("largest_drift", largestDrift);
    metrics.put("waiting", waiting.metrics());
    return metrics;
  }

  void remember(State state) {
    rounds = state.number("rounds", rounds);
    lastInterval = state.number("last_interval", lastInterval);
    largestDrift = state.real("largest_drift", largestDrift);
    var texts = intervals.entrySet().stream().map(e -> e.getKey() + ":" + e.getValue()).toList();
    var saved = state.text("intervals", String.join(",", texts));
    intervals.clear();
    saved
        .lines()
        .flatMap(line -> java.util.Arrays.stream(line.split(",", -1)))
        .filter(text -> !text.isEmpty())
        .forEach(this::take);
  }

  private void take(String pair) {
    int colon = pair.indexOf(':');
    intervals.put(
        Long.parseLong(pair.substring(0, colon)), Long.parseLong(pair.substring(colon + 1)));
  }
}
