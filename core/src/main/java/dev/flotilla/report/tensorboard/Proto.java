package dev.flotilla.report.tensorboard;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * A message of Protocol Buffers, written field by field.
 *
 * <p>TensorBoard's files need six kinds of fields, so a library would be larger than this.
 */
final class Proto {

  private static final int VARINT = 0;
  private static final int EIGHT_BYTES = 1;
  private static final int WITH_LENGTH = 2;
  private static final int FOUR_BYTES = 5;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  Proto integer(int field, long value) {
    key(field, VARINT);
    varint(value);
    return this;
  }

  Proto real(int field, double value) {
    key(field, EIGHT_BYTES);
    bytes.writeBytes(little(Double.BYTES).putDouble(value).array());
    return this;
  }

  Proto single(int field, float value) {
    key(field, FOUR_BYTES);
    bytes.writeBytes(little(Float.BYTES).putFloat(value).array());
    return this;
  }

  Proto text(int field, String value) {
    return withLength(field, value.getBytes(StandardCharsets.UTF_8));
  }

  Proto message(int field, Proto value) {
    return withLength(field, value.toBytes());
  }

  /** Writes numbers one after the other, as "packed" repeated fields are. */
  Proto reals(int field, double[] values) {
    var packed = new byte[values.length * Double.BYTES];
    var doubles = ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN);
    for (double value : values) {
      doubles.putDouble(value);
    }
    return withLength(field, packed);
  }

  byte[] toBytes() {
    return bytes.toByteArray();
  }

  private Proto withLength(int field, byte[] content) {
    key(field, WITH_LENGTH);
    varint(content.length);
    bytes.writeBytes(content);
    return this;
  }

  private void key(int field, int type) {
    varint(((long) field << 3) | type);
  }

  /** Seven bits a byte, the lowest first; the eighth says that more follow. */
  private void varint(long value) {
    long left = value;
    while ((left & ~0x7FL) != 0) {
      bytes.write((int) ((left & 0x7F) | 0x80));
      left >>>= 7;
    }
    bytes.write((int) left);
  }

  private static ByteBuffer little(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }
}
