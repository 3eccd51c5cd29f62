package dev.flotilla.train;

import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import java.util.Locale;

/** Adds up how long a rank has waited for data. */
final class DataWait {

  private static final double NOTABLE_SHARE = 0.2;
  private static final double NOTABLE_SECONDS = 1;

  private double seconds;

  void add(double more) {
    seconds += more;
  }

  double seconds() {
    return seconds;
  }

  /** Says so where much of the training was waiting. */
  void noteIfLong(double trainingSeconds, EventSink sink) {
    double share = seconds / Math.max(1e-9, trainingSeconds);
    if (share > NOTABLE_SHARE && seconds > NOTABLE_SECONDS) {
      sink.on(
          new TrainingEvent.Noted(
              String.format(
                  Locale.ROOT,
                  "%.0f %% of the time was spent waiting for data (%.1f s)",
                  100 * share,
                  seconds)));
    }
  }
}
