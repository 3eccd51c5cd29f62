package dev.flotilla.strategy.compress;

import dev.flotilla.exchange.ExchangeTimes;
import java.util.ArrayList;
import java.util.List;

/**
 * The times of the latest accumulation windows: of the whole step, and of the backward that hides
 * the exchange.
 */
final class StepTimes {

  private final List<Double> steps = new ArrayList<>();
  private final List<Double> backward = new ArrayList<>();
  private long lastEnd;

  /** Forgets what was seen; the next window is not counted, as it may pay for a change. */
  void clear() {
    steps.clear();
    backward.clear();
    lastEnd = 0;
  }

  void add(ExchangeTimes times) {
    if (lastEnd != 0) {
      steps.add((times.end() - lastEnd) / 1e9);
      boolean overlapped = times.buckets().getFirst().start() < times.backwardEnd();
      backward.add(overlapped ? times.backward() / 1e9 : 0);
    }
    lastEnd = times.end();
  }

  int count() {
    return steps.size();
  }

  double step() {
    return median(steps);
  }

  double backward() {
    return median(backward);
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }
}
