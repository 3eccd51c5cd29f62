package dev.flotilla.app;

import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Tells people what happens: a live progress line on a terminal, one plain line every few seconds
 * elsewhere; quietly only what they should heed, in detail every event in a line of its own.
 */
final class Console implements EventSink {

  private static final long BETWEEN_LINES = 5_000_000_000L;
  private static final long BETWEEN_FRAMES = 100_000_000L;

  private final PrintStream out;
  private final OptionalInt columns;
  private final Detail detail;
  private final Colours colours;
  private final Map<String, Object> logged = new LinkedHashMap<>();
  private long totalUpdates;
  private int epochs;
  private long startedAt;
  private long shownAt;
  private boolean frameIsOpen;

  Console(PrintStream out, OptionalInt columns, Detail detail, Colours colours) {
    this.out = out;
    this.columns = detail == Detail.VERBOSE ? OptionalInt.empty() : columns;
    this.detail = detail;
    this.colours = colours;
  }

  @Override
  public void on(TrainingEvent event) {
    switch (event) {
      case TrainingEvent.Noted noted -> line(colours.warning("note:") + " " + noted.text());
      case TrainingEvent.Straggler straggler -> line(colours.warning(straggler.text()));
      default -> {
        if (detail != Detail.QUIET) {
          tell(event);
        }
      }
    }
  }

  private void tell(TrainingEvent event) {
    switch (event) {
      case TrainingEvent.Resumed resumed ->
          line("resumed after update %d from %s".formatted(resumed.update(), resumed.checkpoint()));
      case TrainingEvent.Started started -> start(started);
      case TrainingEvent.Logged more -> logged.putAll(more.values());
      case TrainingEvent.Updated updated -> update(updated);
      case TrainingEvent.Evaluated evaluated -> line(evaluation(evaluated));
      case TrainingEvent.Measured measured -> line(measured.text());
      case TrainingEvent.Finished finished -> finish(finished);
      default -> {
        if (detail == Detail.VERBOSE) {
          EventText.of(event).ifPresent(text -> line(colours.faint(text)));
        }
      }
    }
  }

  private void start(TrainingEvent.Started started) {
    totalUpdates = started.totalUpdates();
    epochs = started.epochs();
    startedAt = System.nanoTime();
    shownAt = startedAt;
    line(
        format(
            "training %,d parameters on %d rank%s: %,d update%s in %d epoch%s",
            started.parameters(),
            started.ranks(),
            plural(started.ranks()),
            totalUpdates,
            plural(totalUpdates),
            epochs,
            plural(epochs)));
  }

  private static String plural(long count) {
    return count == 1 ? "" : "s";
  }

  private void update(TrainingEvent.Updated event) {
    long now = System.nanoTime();
    boolean isLast = event.update() == totalUpdates;
    if (now - shownAt < pause() && !isLast) {
      return;
    }
    shownAt = now;
    var text = progress(event, now);
    if (columns.isPresent()) {
      frame(text);
    } else {
      line(text);
    }
  }

  private long pause() {
    if (detail == Detail.VERBOSE) {
      return 0;
    }
    return columns.isPresent() ? BETWEEN_FRAMES : BETWEEN_LINES;
  }

  private String progress(TrainingEvent.Updated event, long now) {
    double secondsPerUpdate = (now - startedAt) / 1e9 / event.update();
    long left = Math.round(secondsPerUpdate * (totalUpdates - event.update()));
    return format(
        "epoch %d/%d  update %d/%d  loss %.4f%s%s  lr %.3g%s  %,.0f samples/s  eta %d:%02d",
        event.epoch() + 1,
        // Windows that were left out may have taken more than planned.
        Math.max(epochs, event.epoch() + 1),
        event.update(),
        totalUpdates,
        event.loss(),
        percent("acc1", event.acc1()),
        percent("acc5", event.acc5()),
        event.lr(),
        MetricText.of(logged),
        event.samplesPerSecond(),
        left / 60,
        left % 60);
  }

  private static String evaluation(TrainingEvent.Evaluated event) {
    return format(
        "epoch %d  update %d  test loss %.4f%s%s%s  on %,d samples",
        event.epoch() + 1,
        event.update(),
        event.loss(),
        percent("acc1", event.acc1()),
        percent("acc5", event.acc5()),
        MetricText.of(event.metrics()),
        event.samples());
  }

  private void finish(TrainingEvent.Finished finished) {
    var summary = finished.summary();
    var text = new StringBuilder(colours.well("done"));
    if (summary.get("accuracy") instanceof Double accuracy) {
      text.append(format(": accuracy %.2f %%", 100 * accuracy));
    }
    text.append(format(", %,.0f samples/s", number(summary.get("samples_per_second"))));
    text.append(format(", peak memory %,.0f MB", number(summary.get("peak_rss_bytes")) / 1e6));
    if (summary.get("peak_device_bytes") instanceof Number bytes) {
      text.append(format(", peak GPU memory %,.0f MB", bytes.doubleValue() / 1e6));
    }
    text.append(format(", sent %,.1f MB", number(summary.get("bytes_sent")) / 1e6));
    text.append(format(", %.1f s", number(summary.get("wall_seconds"))));
    line(text.toString());
    hintAtDataWait(number(summary.get("data_wait_seconds")), number(summary.get("train_seconds")));
  }

  /** Not an event: whether it is long depends on the machine, and events do not. */
  private void hintAtDataWait(double waited, double trained) {
    if (waited > 1 && waited > 0.2 * trained) {
      line(
          format(
              "%s %.0f %% of the time was spent waiting for data (%.1f s)",
              colours.warning("note:"), 100 * waited / trained, waited));
    }
  }

  private static double number(@Nullable Object value) {
    return value instanceof Number number ? number.doubleValue() : Double.NaN;
  }

  private static String percent(String name, @Nullable Double share) {
    return share == null ? "" : format("  %s %.2f", name, 100 * share);
  }

  private void frame(String text) {
    int width = Math.max(10, columns.orElseThrow() - 1);
    var fitting = text.length() <= width ? text : shortened(text);
    var shown = fitting.substring(0, Math.min(width, fitting.length()));
    out.print("\r" + shown + " ".repeat(width - shown.length()));
    out.flush();
    frameIsOpen = true;
  }

  /** Leaves the learning rate and wide gaps out, so that the time left fits into 80 columns. */
  private static String shortened(String progress) {
    return progress.replaceFirst("  lr \\S+", "").replace(" samples/s", "/s").replace("  ", " ");
  }

  private void line(String text) {
    if (frameIsOpen) {
      out.println();
      frameIsOpen = false;
    }
    out.println(text);
    out.flush();
  }

  private static String format(String pattern, @Nullable Object... values) {
    return String.format(Locale.ROOT, pattern, values);
  }
}
