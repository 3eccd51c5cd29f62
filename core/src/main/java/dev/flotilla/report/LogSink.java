package dev.flotilla.report;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** Writes what users should read to the log of the program, and leaves everything else alone. */
final class LogSink implements EventSink {

  static final String NAME = "dev.flotilla";

  @Override
  public void on(TrainingEvent event) {
    if (event instanceof TrainingEvent.Noted(String text)) {
      // Asked for each time: programs may set up their logging after a trainer was described.
      Logger log = System.getLogger(NAME);
      log.log(Level.WARNING, text);
    }
  }
}
