package dev.flotilla.app;

import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import java.io.PrintStream;

/** The console of ranks other than 0: notes only, since rank 0 tells the rest. */
record FollowerConsole(PrintStream out, int rank) implements EventSink {

  @Override
  public void on(TrainingEvent event) {
    if (event instanceof TrainingEvent.Noted(var text)) {
      out.println("[rank " + rank + "] note: " + text);
    }
  }
}
