package dev.flotilla.report;

import java.io.PrintStream;
import java.util.Locale;

/**
 * Prints the mean loss of each logged window, as MindSpore's callback of that name does.
 *
 * @param out where to print
 */
public record LossMonitor(PrintStream out) implements EventSink {

  @Override
  public void on(TrainingEvent event) {
    if (event instanceof TrainingEvent.Updated updated) {
      out.printf(
          Locale.ROOT,
          "epoch: %d step: %d, loss is %.6f%n",
          updated.epoch() + 1,
          updated.update(),
          updated.loss());
    }
  }
}
