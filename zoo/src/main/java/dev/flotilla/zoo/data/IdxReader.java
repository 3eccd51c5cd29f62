package dev.flotilla.zoo.data;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.zip.ZipException;

/** Reads one IDX file from start to end and compares it with what its kind demands. */
final class IdxReader implements Closeable {

  /** As much as is ever loaded; MNIST has a twentieth of it. */
  private static final long MAX_LENGTH = 1L << 30;

  private final IdxKind kind;
  private final IdxSource source;
  private final InputStream in;
  private long position;
  private long length;

  IdxReader(IdxKind kind, IdxSource source) throws IOException {
    this.kind = kind;
    this.source = source;
    this.in = source.open();
    this.length = kind.headerBytes();
  }

  /** Reads the header, which comes first, and returns the number of items. */
  int header() throws IOException, Malformed {
    var header = ByteBuffer.wrap(take(kind.headerBytes()));
    requireInt(kind.magic(), header, "the magic number of " + kind.items());
    int countAt = header.position();
    int count = header.getInt();
    for (int size : kind.itemSizes()) {
      requireInt(size, header, "the size");
    }
    length = kind.headerBytes() + (long) count * kind.itemBytes();
    long limit = Math.min(MAX_LENGTH, source.unpackedLimit());
    if (count == 0) {
      throw new Malformed(
          "holds no %s".formatted(kind.items()), "name data with at least one sample");
    }
    if (count < 0 || length > limit) {
      throw new Malformed(
          "byte %d states %d %s, %d bytes in all, but only %d bytes fit"
              .formatted(countAt, count, kind.items(), length, limit));
    }
    return count;
  }

  /** Returns the length that the header demands. */
  long length() {
    return length;
  }

  /** Reads the items, which come after the header, up to the end of the file. */
  byte[] items(int count) throws IOException, Malformed {
    byte[] items = take(count * kind.itemBytes());
    if (read(new byte[1], 0) >= 0) {
      throw new Malformed(
          "expected the end at byte %d, after %d %s, but found more"
              .formatted(length, count, kind.items()));
    }
    return items;
  }

  private static void requireInt(int expected, ByteBuffer header, String what) throws Malformed {
    int at = header.position();
    int found = header.getInt();
    if (found != expected) {
      throw new Malformed(
          "expected 0x%08x at byte %d, %s, but found 0x%08x".formatted(expected, at, what, found));
    }
  }

  private byte[] take(int count) throws IOException, Malformed {
    var bytes = new byte[count];
    int taken = 0;
    while (taken < count) {
      int read = read(bytes, taken);
      if (read < 0) {
        throw new Malformed("expected %d bytes, but found only %d".formatted(length, position));
      }
      taken += read;
    }
    return bytes;
  }

  private int read(byte[] target, int offset) throws IOException, Malformed {
    try {
      int read = in.read(target, offset, target.length - offset);
      position += Math.max(read, 0);
      return read;
    } catch (EOFException | ZipException e) {
      throw new Malformed(
          "expected %d bytes, but unpacking them fails near byte %d: %s"
              .formatted(length, position, e.getMessage()));
    }
  }

  @Override
  public void close() throws IOException {
    in.close();
  }

  /** Says what was expected, what was found, and where. */
  static final class Malformed extends Exception {
    private final String what;
    private final String fix;

    Malformed(String what) {
      this(what, "copy or download the file again");
    }

    Malformed(String what, String fix) {
      super(what);
      this.what = what;
      this.fix = fix;
    }

    String fix() {
      return fix;
    }

    String what() {
      return what;
    }
  }
}
