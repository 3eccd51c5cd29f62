package dev.flotilla.pickle;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** The bytes of a pickle, read in order and never beyond their end. */
final class PickleBytes {

  private final ByteBuffer bytes;

  PickleBytes(byte[] pickle) {
    bytes = ByteBuffer.wrap(pickle).order(ByteOrder.LITTLE_ENDIAN);
  }

  int position() {
    return bytes.position();
  }

  int unsignedByte() throws PickleException {
    require(1);
    return Byte.toUnsignedInt(bytes.get());
  }

  int unsigned16() throws PickleException {
    require(Short.BYTES);
    return Short.toUnsignedInt(bytes.getShort());
  }

  int int32() throws PickleException {
    require(Integer.BYTES);
    return bytes.getInt();
  }

  double bigEndianDouble() throws PickleException {
    require(Double.BYTES);
    return Double.longBitsToDouble(Long.reverseBytes(bytes.getLong()));
  }

  int length32() throws PickleException {
    return length(Integer.toUnsignedLong(int32()));
  }

  int length64() throws PickleException {
    require(Long.BYTES);
    return length(bytes.getLong());
  }

  private int length(long length) throws PickleException {
    if (length < 0 || length > bytes.capacity()) {
      throw new PickleException(
          bytes.position(),
          "states a length of %s, but only %d bytes are there"
              .formatted(Long.toUnsignedString(length), bytes.remaining()));
    }
    return (int) length;
  }

  byte[] bytes(int count) throws PickleException {
    require(count);
    var taken = new byte[count];
    bytes.get(taken);
    return taken;
  }

  String utf8(int count) throws PickleException {
    return new String(bytes(count), StandardCharsets.UTF_8);
  }

  /** Returns the text up to the next line feed, which is taken as well. */
  String line() throws PickleException {
    int end = bytes.position();
    while (end < bytes.limit() && bytes.get(end) != '\n') {
      end++;
    }
    String line = utf8(end - bytes.position());
    unsignedByte();
    return line;
  }

  int wholeLine() throws PickleException {
    int at = bytes.position();
    String line = line();
    try {
      return Integer.parseUnsignedInt(line);
    } catch (NumberFormatException e) {
      throw new PickleException(at, "expected a number, but found '%s'".formatted(line));
    }
  }

  private void require(int count) throws PickleException {
    if (bytes.remaining() < count) {
      throw new PickleException(
          bytes.position(),
          "is cut off: %d bytes are needed, but %d are left".formatted(count, bytes.remaining()));
    }
  }
}
