package dev.flotilla.report.tensorboard;

import dev.flotilla.control.PrivateFiles;
import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.text.Secrets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes events for TensorBoard: {@code tensorboard --logdir runs} shows them.
 *
 * <p>Steps are updates. A run that goes on writes a file of its own, which begins by saying that
 * all later steps of files before it are void; so does a step that comes again. A disk that is full
 * costs events, not the run.
 */
public final class TensorBoard implements EventSink, AutoCloseable {

  private static final String CONFIGURATION = "config/text_summary";

  private final Path folder;
  private final InstantSource clock;
  private final Map<String, Long> written = new HashMap<>();
  private @Nullable EventFile file;
  private Map<String, Object> configuration = Map.of();

  /** The last update that earlier files are right about; all of a new run's are its own. */
  private long goesOnAfter = -1;

  private boolean hasFailed;

  /**
   * Writes to a folder, which is made if there is none; the file itself comes with the first event
   * of a run that has begun.
   *
   * @throws UncheckedIOException if it cannot be made, or belongs to somebody else
   */
  public TensorBoard(Path folder) {
    this(folder, InstantSource.system());
  }

  TensorBoard(Path folder, InstantSource clock) {
    this.folder = folder;
    this.clock = clock;
    try {
      PrivateFiles.createFolders(folder);
      if (!Files.isWritable(folder)) {
        throw new java.nio.file.AccessDeniedException(folder.toString());
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Override
  public void on(TrainingEvent event) {
    switch (event) {
      case TrainingEvent.Configured configured -> configuration = configured.configuration();
      case TrainingEvent.Resumed resumed -> goesOnAfter = resumed.update();
      case TrainingEvent.Started _ -> begin();
      case TrainingEvent.Updated updated -> updated(updated);
      case TrainingEvent.Evaluated evaluated -> evaluated(evaluated);
      case TrainingEvent.Logged logged ->
          logged.values().forEach((name, value) -> scalar(tag(name), logged.update(), value));
      case TrainingEvent.Averaged averaged -> averaged(averaged);
      case TrainingEvent.Timed timed -> {
        scalar("system/resident_bytes", timed.update(), timed.residentBytes());
        scalar("exchange/bytes_sent", timed.update(), timed.bytesSent());
        scalar("exchange/density", timed.update(), timed.density());
      }
      case TrainingEvent.DeviceUsed used -> {
        scalar("system/gpu_live_bytes", used.update(), used.liveBytes());
        scalar("system/gpu_peak_bytes", used.update(), used.peakBytes());
      }
      default -> {}
    }
  }

  private void updated(TrainingEvent.Updated event) {
    long step = event.update();
    scalar("train/loss", step, event.loss());
    scalar("train/lr", step, event.lr());
    scalar("train/epoch", step, event.epoch() + 1);
    scalar("train/acc1", step, event.acc1());
    scalar("train/acc5", step, event.acc5());
    scalar("train/samples_per_second", step, event.samplesPerSecond());
  }

  private void evaluated(TrainingEvent.Evaluated event) {
    long step = event.update();
    scalar("eval/loss", step, event.loss());
    scalar("eval/acc1", step, event.acc1());
    scalar("eval/acc5", step, event.acc5());
    event
        .metrics()
        .forEach(
            (name, value) -> {
              if (value instanceof Number number) {
                scalar("eval/" + name, step, number);
              }
            });
  }

  private void averaged(TrainingEvent.Averaged event) {
    scalar("average/interval", event.update(), event.interval());
    scalar("average/drift_mean", event.update(), event.driftMean());
    scalar("average/drift_largest", event.update(), event.driftLargest());
  }

  /** A callback's number is one of training unless its name says where it belongs. */
  private static String tag(String name) {
    return name.contains("/") ? name : "train/" + name;
  }

  private void scalar(String tag, long step, @Nullable Number number) {
    if (number != null) {
      value(step, new Proto().text(1, tag).single(2, number.floatValue()), tag);
    }
  }

  /** Writes how the numbers of a tensor are spread. */
  public void histogram(String tag, long step, Histogram histogram) {
    value(step, new Proto().text(1, tag).message(5, histogram.toProto()), tag);
  }

  private void begin() {
    if (file != null) {
      return; // It may be a second fit of the same trainer.
    }
    try {
      file = EventFile.create(folder, clock.millis() / 1000);
    } catch (IOException failure) {
      sayOnce(failure);
      return;
    }
    append(event(0).text(3, "brain.Event:2"));
    voidFrom(goesOnAfter + 1);
    if (!configuration.isEmpty()) {
      text(CONFIGURATION, Math.max(0, goesOnAfter), indented(configuration));
    }
  }

  /** TensorBoard drops what it has read of this step and later ones. */
  private void voidFrom(long step) {
    append(event(step).message(7, new Proto().integer(1, 1)));
    written.clear();
  }

  /** TensorBoard shows texts as Markdown, in which indented lines are shown as they are. */
  private static String indented(Map<String, Object> values) {
    return JsonMapper.shared()
        .writerWithDefaultPrettyPrinter()
        .writeValueAsString(new Secrets(System.getenv()).hideIn(values))
        .indent(4);
  }

  private void text(String tag, long step, String text) {
    var plugin = new Proto().message(1, new Proto().text(1, "text"));
    var shape = new Proto().message(2, new Proto().integer(1, 1));
    var strings = new Proto().integer(1, 7).message(2, shape).text(8, text);
    value(step, new Proto().text(1, tag).message(8, strings).message(9, plugin), tag);
  }

  private void value(long step, Proto value, String tag) {
    begin();
    if (step <= written.getOrDefault(tag, -1L)) {
      voidFrom(step);
    }
    written.put(tag, step);
    append(event(step).message(5, new Proto().message(1, value)));
  }

  private Proto event(long step) {
    var event = new Proto().real(1, clock.millis() / 1e3);
    return step == 0 ? event : event.integer(2, step);
  }

  private void append(Proto event) {
    if (file == null) {
      return;
    }
    try {
      file.append(event);
    } catch (IOException failure) {
      sayOnce(failure);
    }
  }

  private void sayOnce(IOException failure) {
    if (!hasFailed) {
      hasFailed = true;
      System.getLogger(TensorBoard.class.getName())
          .log(
              System.Logger.Level.WARNING,
              String.format(
                  Locale.ROOT,
                  "cannot write events for TensorBoard to %s (%s); some are lost",
                  folder,
                  failure));
    }
  }

  @Override
  public void close() {
    try {
      if (file != null) {
        file.close();
      }
    } catch (IOException failure) {
      sayOnce(failure);
    }
  }
}
