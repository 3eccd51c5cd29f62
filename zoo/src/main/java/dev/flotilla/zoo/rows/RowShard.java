package dev.flotilla.zoo.rows;

import dev.flotilla.zoo.data.DataProblem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * One file of rows: of each row its numbers as float32, then its class as int32, all with the least
 * byte first.
 *
 * @param file the file
 * @param rows number of rows
 * @param columns numbers of a row
 * @param sha256 digest of the whole file, in hexadecimal digits
 */
record RowShard(Path file, int rows, int columns, String sha256) {

  private static final String FIX = "write the rows again into a new folder";
  private static final int PIECE = 1 << 20;

  /** Returns the bytes of one row. */
  long rowBytes() {
    return (columns + 1L) * Float.BYTES;
  }

  /** Checks that the file is there and has the length that its rows need. */
  void checkLength() {
    try {
      long length = Files.size(file);
      long expected = rows * rowBytes();
      if (length != expected) {
        throw DataProblem.of(
            file, "has %,d bytes, but %,d rows take %,d".formatted(length, rows, expected), FIX);
      }
    } catch (IOException e) {
      throw DataProblem.unreadable(file, e);
    }
  }

  /** Checks every byte, and returns them, mapped until the arena closes. */
  MemorySegment open(Arena arena) {
    checkLength();
    try (var channel = FileChannel.open(file, StandardOpenOption.READ)) {
      checkDigest(channel);
      return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }

  private void checkDigest(FileChannel channel) throws IOException {
    var digest = newDigest();
    var piece = ByteBuffer.allocateDirect(PIECE);
    while (channel.read(piece.clear()) >= 0) {
      digest.update(piece.flip());
    }
    var found = HexFormat.of().formatHex(digest.digest());
    if (!found.equals(sha256)) {
      throw DataProblem.of(
          file, "its SHA-256 is %s, but was %s when it was written".formatted(found, sha256), FIX);
    }
  }

  private static MessageDigest newDigest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM knows SHA-256", e);
    }
  }
}
