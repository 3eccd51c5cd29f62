package dev.flotilla.control;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Takes the fields of a frame out of its bytes; never trusts a length. */
final class FrameInput {

  private static final int MOST_ITEMS = 1024;

  private interface Item<T> {
    T read() throws FrameException;
  }

  private final ByteBuffer bytes;

  FrameInput(ByteBuffer bytes) {
    this.bytes = bytes;
  }

  int tag() throws FrameException {
    return need(1).get();
  }

  boolean flag() throws FrameException {
    return switch (need(1).get()) {
      case 0 -> false;
      case 1 -> true;
      default -> throw new FrameException("a flag is neither 0 nor 1");
    };
  }

  int number() throws FrameException {
    return need(Integer.BYTES).getInt();
  }

  long longNumber() throws FrameException {
    return need(Long.BYTES).getLong();
  }

  Bits256 bits() throws FrameException {
    return new Bits256(longNumber(), longNumber(), longNumber(), longNumber());
  }

  String text() throws FrameException {
    int length = Short.toUnsignedInt(need(Short.BYTES).getShort());
    ByteBuffer enough = need(length);
    var text = new byte[length];
    enough.get(text);
    return new String(text, StandardCharsets.UTF_8);
  }

  ByteBuffer bytes() throws FrameException {
    int length = number();
    if (length < 0) {
      throw new FrameException("a value has a negative length");
    }
    var copy = new byte[Math.min(length, need(length).remaining())];
    bytes.get(copy);
    return ByteBuffer.wrap(copy);
  }

  List<String> texts() throws FrameException {
    return list(this::text);
  }

  List<RankPlace> places() throws FrameException {
    return list(this::place);
  }

  private RankPlace place() throws FrameException {
    return new RankPlace(
        number(), longNumber(), longNumber(), text(), longNumber(), text(), longNumber(), flag());
  }

  FailureNotice failure() throws FrameException {
    return new FailureNotice(
        number(), text(), longNumber(), number(), text(), text(), text(), text(), texts());
  }

  void end() throws FrameException {
    if (bytes.hasRemaining()) {
      throw new FrameException(bytes.remaining() + " bytes follow a frame's last field");
    }
  }

  private <T> List<T> list(Item<T> item) throws FrameException {
    int count = Short.toUnsignedInt(need(Short.BYTES).getShort());
    if (count > MOST_ITEMS) {
      throw new FrameException("a list of %d items is too long".formatted(count));
    }
    var items = new ArrayList<T>();
    for (int i = 0; i < count; i++) {
      items.add(item.read());
    }
    return items;
  }

  private ByteBuffer need(int count) throws FrameException {
    if (bytes.remaining() < count) {
      throw new FrameException("a frame ends before its last field");
    }
    return bytes;
  }
}
