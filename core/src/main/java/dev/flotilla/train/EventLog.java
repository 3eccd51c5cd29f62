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
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * The file of a run's events, one JSON object per line.
 *
 * <p>A run that went on has the same events as one that was never stopped: it keeps those that came
 * before its checkpoint. Until it is decided whether a run is new, nothing is written, so that one
 * which cannot be built leaves nothing behind.
 */
final class EventLog implements EventSink, Stateful, AutoCloseable {

  private final Path file;
  private final EventJson json = new EventJson();

  /** Lines of a run of which it is not known yet whether it is a new one. */
  private final StringBuilder undecided = new StringBuilder();

  private @Nullable FileChannel channel;

  /** Where the file ended when the checkpoint was saved that was read last. */
  private long savedPlace;

  private boolean goesOn;
  private boolean hasFailed;

  EventLog(Path file) {
    this.file = file;
  }

  /** Tells whether it is decided what the run is. */
  boolean isOpen() {
    return channel != null;
  }

  /** Decides that the events so far are those of a new run. */
  void begin() throws IOException {
    open(file, 0);
    append(undecided.toString());
    undecided.setLength(0);
  }

  /**
   * Decides that the run goes on from the checkpoint that was read last.
   *
   * @param events those of the run that saved it, in this file or another; there may be none
   */
  void goOnFrom(Path events) throws IOException {
    open(events, savedPlace);
    goesOn = true;
    undecided.setLength(0);
  }

  /**
   * Opens a new file with the first lines of another, up to a place in it. An earlier attempt that
   * has the old one open still, and is not dead, writes to what nobody reads any more.
   */
  private void open(Path source, long place) throws IOException {
    var part = file.resolveSibling(file.getFileName() + ".part");
    Files.deleteIfExists(part);
    Files.createFile(part, RunPaths.owner("rw-------"));
    if (place > 0 && Files.exists(source)) {
      Files.write(part, Files.readAllBytes(source));
    }
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    var opened = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
    channel = opened;
    opened.truncate(endOfLine(opened, place));
    opened.position(opened.size());
  }

  /** A loss of power may have taken the end of the file, and with it a part of a line. */
  private static long endOfLine(FileChannel file, long place) throws IOException {
    long end = Math.min(place, file.size());
    var last = ByteBuffer.allocate(1);
    while (end > 0) {
      last.clear();
      if (file.read(last, end - 1) == 1 && last.get(0) == '\n') {
        return end;
      }
      end--;
    }
    return 0;
  }

  /** Keeps the place in the file. */
  @Override
  public void remember(RunState state) {
    savedPlace = state.leader().number("events/bytes", state.isSaving() ? place() : 0);
  }

  private long place() {
    try {
      return channel == null ? 0 : channel.position();
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot read " + file, failure);
    }
  }

  @Override
  public void on(TrainingEvent event) {
    if (MeasuredLog.takes(event)
        || event instanceof TrainingEvent.Measured
        || (goesOn && event instanceof TrainingEvent.Started)) {
      return;
    }
    var line = json.line(event) + "\n";
    if (channel == null) {
      undecided.append(line);
    } else {
      append(line);
    }
  }

  private void append(String lines) {
    var open = channel;
    if (open == null) {
      throw new IllegalStateException("it is not decided yet whether the run is a new one");
    }
    long before = place();
    try {
      var bytes = ByteBuffer.wrap(lines.getBytes(StandardCharsets.UTF_8));
      while (bytes.hasRemaining()) {
        open.write(bytes);
      }
    } catch (IOException failure) {
      sayOnce(failure);
      takeBack(open, before);
    }
  }

  /** A line is there as a whole or not at all. */
  private void takeBack(FileChannel open, long place) {
    try {
      open.truncate(place);
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
      if (channel != null) {
        channel.close();
      }
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot close " + file, failure);
    }
  }
}
