package dev.flotilla.train;

import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * The file of what rank 0 has measured in all attempts at a run, and of where each has gone on.
 *
 * <p>These depend on the machine, so they are kept apart from the run's events, which a run that
 * was stopped has in common with one that was not. Nothing is ever taken back.
 */
final class MeasuredLog implements EventSink, AutoCloseable {

  private final Path file;
  private final EventJson json = new EventJson();
  private final StringBuilder undecided = new StringBuilder();
  private @Nullable FileChannel channel;
  private boolean hasFailed;

  MeasuredLog(Path file) {
    this.file = file;
  }

  /** Tells which events belong here, and not to the run's own. */
  static boolean takes(TrainingEvent event) {
    return event instanceof TrainingEvent.Timed
        || event instanceof TrainingEvent.Planned
        || event instanceof TrainingEvent.Resumed
        || event instanceof TrainingEvent.Straggler;
  }

  /**
   * Decides what the file begins with, and opens it. An earlier attempt that has the old one open
   * still, and is not dead, writes to what nobody reads any more.
   *
   * @param before what an earlier attempt has left, in this file or another; null for a new run
   */
  void open(@Nullable Path before) throws IOException {
    if (channel != null) {
      return;
    }
    var part = file.resolveSibling(file.getFileName() + ".part");
    Files.deleteIfExists(part);
    Files.createFile(part, RunPaths.owner("rw-------"));
    Files.writeString(part, (before == null ? "" : wholeLines(before)) + undecided);
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    undecided.setLength(0);
    channel = FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
  }

  /** Whoever was killed may have left a part of a line. */
  private static String wholeLines(Path file) throws IOException {
    try {
      var text = Files.readString(file);
      return text.substring(0, text.lastIndexOf('\n') + 1);
    } catch (NoSuchFileException none) {
      return "";
    }
  }

  @Override
  public void on(TrainingEvent event) {
    if (!takes(event)) {
      return;
    }
    var line = json.line(event) + "\n";
    var opened = channel;
    if (opened == null) {
      undecided.append(line);
      return;
    }
    try {
      var bytes = ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8));
      while (bytes.hasRemaining()) {
        opened.write(bytes);
      }
    } catch (IOException failure) {
      sayOnce(failure);
    }
  }

  /** A full disk must not end a run that can still train. */
  private void sayOnce(IOException failure) {
    if (!hasFailed) {
      hasFailed = true;
      System.getLogger(MeasuredLog.class.getName())
          .log(
              System.Logger.Level.WARNING,
              "cannot write %s (%s); measurements are lost".formatted(file, failure));
    }
  }

  @Override
  public void close() throws IOException {
    if (channel != null) {
      channel.close();
    }
  }
}
