package dev.flotilla.board.run;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * A file of lines that somebody else appends to, read on from where the last look ended.
 *
 * <p>A line counts once its line feed is there: the last one may be half written. A run that goes
 * on from a checkpoint cuts its file first; then everything is read anew. To see a cut even where
 * the file has grown again beyond the old place, the bytes before it are compared: they hold a
 * time.
 */
final class LineFile {

  private static final int CHUNK = 1 << 20;
  private static final int TAIL = 256;
  private static final int LONGEST_LINE = 64 << 20;

  private final Path file;
  private final Runnable onCut;
  private long place;
  private byte[] tail = {};

  /**
   * @param onCut told when all lines so far are void
   */
  LineFile(Path file, Runnable onCut) {
    this.file = file;
    this.onCut = onCut;
  }

  /** Hands out the lines that have come since the last look, and returns whether there were any. */
  boolean poll(Consumer<String> lines) throws IOException {
    try (var channel = FileChannel.open(file, StandardOpenOption.READ)) {
      boolean wasCut = place > 0 && !isStillThere(channel);
      if (wasCut) {
        forget();
      }
      return readOn(channel, lines) || wasCut;
    } catch (NoSuchFileException none) {
      boolean had = place > 0;
      if (had) {
        forget();
      }
      return had;
    }
  }

  private void forget() {
    place = 0;
    tail = new byte[0];
    onCut.run();
  }

  private boolean isStillThere(FileChannel channel) throws IOException {
    return channel.size() >= place
        && Arrays.equals(tail, bytes(channel, place - tail.length, tail.length));
  }

  private boolean readOn(FileChannel channel, Consumer<String> lines) throws IOException {
    boolean any = false;
    int size = CHUNK;
    while (true) {
      var chunk = bytes(channel, place, size);
      int end = lastLineFeed(chunk) + 1;
      if (end == 0) {
        if (chunk.length < size) {
          return any;
        }
        if (size >= LONGEST_LINE) {
          throw new IOException("a line of more than %d MiB".formatted(LONGEST_LINE >> 20));
        }
        size *= 4; // a summary may be long
        continue;
      }
      any = true;
      new String(chunk, 0, end, StandardCharsets.UTF_8).lines().forEach(lines);
      place += end;
      tail = Arrays.copyOfRange(chunk, Math.max(0, end - TAIL), end);
    }
  }

  private static int lastLineFeed(byte[] bytes) {
    int at = bytes.length - 1;
    while (at >= 0 && bytes[at] != '\n') {
      at--;
    }
    return at;
  }

  private static byte[] bytes(FileChannel channel, long from, int most) throws IOException {
    var buffer = ByteBuffer.allocate((int) Math.min(most, Math.max(0, channel.size() - from)));
    while (buffer.hasRemaining()) {
      if (channel.read(buffer, from + buffer.position()) < 0) {
        break;
      }
    }
    return Arrays.copyOf(buffer.array(), buffer.position());
  }
}
