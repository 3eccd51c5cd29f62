package dev.flotilla.onnx;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A message of protocol buffers, its fields in the order in which they are added.
 *
 * <p>Large fields are kept as views and not copied: memory behind them must stay until the message
 * has been written.
 */
final class ProtoMessage {

  private static final int VARINT = 0;
  private static final int LENGTH = 2;
  private static final int FIXED32 = 5;

  /** How much goes to a channel at a time, as a buffer holds no more than 2 GiB. */
  private static final long CHUNK = 1L << 20;

  private final List<MemorySegment> pieces = new ArrayList<>();
  private final ByteArrayOutputStream open = new ByteArrayOutputStream();
  private long closed;

  /** Adds a whole number: int32, int64 or an enumeration. */
  ProtoMessage number(int field, long value) {
    tag(field, VARINT);
    varint(value);
    return this;
  }

  /** Adds a number of 32 bits. */
  ProtoMessage real(int field, float value) {
    tag(field, FIXED32);
    int bits = Float.floatToRawIntBits(value);
    for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
      open.write(bits >>> shift);
    }
    return this;
  }

  ProtoMessage text(int field, String value) {
    byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
    tag(field, LENGTH);
    varint(utf8.length);
    open.writeBytes(utf8);
    return this;
  }

  /** Adds bytes that stay where they are. */
  ProtoMessage bytes(int field, MemorySegment value) {
    tag(field, LENGTH);
    varint(value.byteSize());
    seal();
    append(value);
    return this;
  }

  ProtoMessage message(int field, ProtoMessage value) {
    tag(field, LENGTH);
    varint(value.size());
    seal();
    value.seal();
    value.pieces.forEach(this::append);
    return this;
  }

  private void append(MemorySegment piece) {
    pieces.add(piece);
    closed += piece.byteSize();
  }

  private void tag(int field, int wireType) {
    varint(((long) field << 3) | wireType);
  }

  /** Seven bits a byte, lowest first; a negative number has ten bytes. */
  private void varint(long value) {
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      open.write((int) ((rest & 0x7f) | 0x80));
      rest >>>= 7;
    }
    open.write((int) rest);
  }

  private void seal() {
    if (open.size() > 0) {
      append(MemorySegment.ofArray(open.toByteArray()));
      open.reset();
    }
  }

  /** Returns the number of its bytes. */
  long size() {
    return closed + open.size();
  }

  void writeTo(WritableByteChannel channel) throws IOException {
    seal();
    for (var piece : pieces) {
      for (long from = 0; from < piece.byteSize(); from += CHUNK) {
        var some = piece.asSlice(from, Math.min(CHUNK, piece.byteSize() - from)).asByteBuffer();
        while (some.hasRemaining()) {
          channel.write(some);
        }
      }
    }
  }
}
