package dev.flotilla.app;

import dev.flotilla.report.TrainingEvent;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** What only those read who want every detail. */
final class EventText {

  private EventText() {}

  /** Returns an event in a line; nothing for one that is told otherwise. */
  static Optional<String> of(TrainingEvent event) {
    return switch (event) {
      case TrainingEvent.EpochEnded ended ->
          line(
              "epoch %d ended: %,d updates in %.1f s",
              ended.epoch() + 1, ended.updates(), ended.seconds());
      case TrainingEvent.Saved saved -> line("checkpoint after update %d", saved.update());
      case TrainingEvent.Averaged averaged ->
          line(
              "update %d  averaged after %d updates  drift %.3g, at most %.3g  %.3f s",
              averaged.update(),
              averaged.interval(),
              averaged.driftMean(),
              averaged.driftLargest(),
              averaged.seconds());
      case TrainingEvent.Timed timed ->
          line(
              "update %d  seconds so far: %s  memory %,.0f MB  sent %,.1f MB",
              timed.update(),
              seconds(timed.seconds()),
              timed.residentBytes() / 1e6,
              timed.bytesSent() / 1e6);
      case TrainingEvent.DeviceUsed used ->
          line(
              "update %d  %s holds %,.0f MB, at most %,.0f MB",
              used.update(), used.device(), used.liveBytes() / 1e6, used.peakBytes() / 1e6);
      default -> Optional.empty();
    };
  }

  private static String seconds(Map<String, Double> byPhase) {
    return byPhase.entrySet().stream()
        .map(it -> String.format(Locale.ROOT, "%s %.2f", it.getKey(), it.getValue()))
        .collect(Collectors.joining(", "));
  }

  private static Optional<String> line(String pattern, Object... values) {
    return Optional.of(String.format(Locale.ROOT, pattern, values));
  }
}
