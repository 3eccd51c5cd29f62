package dev.flotilla.report;

import java.io.PrintStream;
import java.util.Locale;

/**
 * Prints the time of each epoch and of its updates, as MindSpore's callback of that name does.
 *
 * @param out where to print
 */
public record TimeMonitor(PrintStream out) implements EventSink {

  @Override
  public void on(TrainingEvent event) {
    if (event instanceof TrainingEvent.EpochEnded ended) {
      double millis = 1000 * ended.seconds();
      out.printf(
          Locale.ROOT,
          "epoch time: %.3f ms, per step time: %.3f ms%n",
          millis,
          millis / Math.max(1, ended.updates()));
    }
  }
}
