package dev.flotilla.zoo.data;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/**
 * Where the bytes of an IDX file come from; tells by the bytes themselves whether they are packed
 * with gzip.
 *
 * @param name what messages call it
 * @param size number of bytes as stored
 * @param opener gives the bytes as stored, from the start
 */
record IdxSource(String name, long size, Opener opener) {

  private static final int BUFFER = 1 << 16;

  /** No deflate stream unpacks to more than this many times its size. */
  private static final long MOST_PER_PACKED_BYTE = 1032;

  static IdxSource of(Path file) throws IOException {
    return new IdxSource(file.toString(), Files.size(file), () -> Files.newInputStream(file));
  }

  static IdxSource of(String name, byte[] content) {
    return new IdxSource(name, content.length, () -> new ByteArrayInputStream(content));
  }

  /** Opens the unpacked content. */
  InputStream open() throws IOException {
    var stored = new BufferedInputStream(opener.open(), BUFFER);
    try {
      return startsLikeGzip(stored) ? new GZIPInputStream(stored, BUFFER) : stored;
    } catch (IOException e) {
      stored.close();
      throw e;
    }
  }

  /** Returns a size that the unpacked content certainly does not exceed. */
  long unpackedLimit() throws IOException {
    return isGzip() ? size * MOST_PER_PACKED_BYTE : size;
  }

  /**
   * Tells, without unpacking, whether the content has the given size. For gzip, the last four bytes
   * say it; a file of several members, though sound, may be denied.
   */
  boolean seemsToHave(long unpackedSize) throws IOException {
    return isGzip() ? lastInt() == (int) unpackedSize : size == unpackedSize;
  }

  private boolean isGzip() throws IOException {
    try (var stored = new BufferedInputStream(opener.open(), 2)) {
      return startsLikeGzip(stored);
    }
  }

  /** An IDX file starts with two zero bytes: nothing can be mistaken. */
  private static boolean startsLikeGzip(BufferedInputStream stored) throws IOException {
    stored.mark(2);
    boolean gzip = stored.read() == 0x1f && stored.read() == 0x8b;
    stored.reset();
    return gzip;
  }

  private int lastInt() throws IOException {
    try (var stored = opener.open()) {
      stored.skipNBytes(Math.max(0, size - Integer.BYTES));
      byte[] last = stored.readNBytes(Integer.BYTES);
      return last.length < Integer.BYTES
          ? 0
          : ByteBuffer.wrap(last).order(ByteOrder.LITTLE_ENDIAN).getInt();
    }
  }

  /** Opens the bytes as stored. */
  interface Opener {
    InputStream open() throws IOException;
  }
}
