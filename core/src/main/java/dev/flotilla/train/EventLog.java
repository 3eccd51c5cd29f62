package dev.flotilla.train;

import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The file of a run's events, one JSON object per line.
 *
 * <p>A run that went on has the same events as one that was never stopped: taking up a checkpoint's
 * state cuts the file back to the place it had then.
 */
final class EventLog implements EventSink, Stateful, AutoCloseable {

  private final Path file;
  private final FileChannel channel;
  private final EventJson json = new EventJson();

  /** Lines of a run of which it is not known yet whether it is a new one. */
  private @Nullable StringBuilder undecided;

  private boolean goesOn;
  private boolean hasFailed;

  /**
   * Opens the file.
   *
   * @param isNew whether it must not exist; otherwise nothing is written before it is decided
   *     whether the run goes on
   */
  EventLog(Path file, boolean isNew) throws IOException {
    this.file = file;
    this.undecided = isNew ? null : new StringBuilder();
    var options =
        Set.of(
            StandardOpenOption.WRITE,
            isNew ? StandardOpenOption.CREATE_NEW : StandardOpenOption.CREATE);
    var owner = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    this.channel = FileChannel.open(file, options, owner);
  }

  /** Decides that the events so far are those of a new run. */
  void startAnew() {
    if (undecided != null) {
      var lines = undecided.toString();
      cut(0);
      append(lines);
    }
  }

  /** Keeps the place in the file; taken up once, when a run goes on. */
  @Override
  public void remember(RunState state) {
    long place = state.own().number("events/bytes", place());
    if (!state.isSaving() && undecided != null) {
      cut(place);
      goesOn = true;
    }
  }

  private long place() {
    try {
      return channel.position();
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot read " + file, failure);
    }
  }

  private void cut(long place) {
    undecided = null;
    try {
      channel.truncate(place);
      channel.position(channel.size());
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot cut " + file, failure);
    }
  }

  @Override
  public void on(TrainingEvent event) {
    if (event instanceof TrainingEvent.Resumed
        || event instanceof TrainingEvent.Measured
        || (goesOn && event instanceof TrainingEvent.Started)) {
      return;
    }
    var line = json.line(event) + "\n";
    if (undecided != null) {
      undecided.append(line);
    } else {
      append(line);
    }
  }

  private void append(String lines) {
    try {
      var bytes = ByteBuffer.wrap(lines.getBytes(StandardCharsets.UTF_8));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    } catch (IOException failure) {
      sayOnce(failure);
    }
  }

  /** A full disk must not end a run that can still train; later lines may find room again. */
  private void sayOnce(IOException failure) {
    if (!hasFailed) {
      hasFailed = true;
      System.getLogger(EventLog.class.getName())
          .log(
              System.Logger.Level.WARNING,
              "cannot write %s (%s); events are lost".formatted(file, failure));
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot close " + file, failure);
    }
  }
}
