package dev.flotilla.control;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Puts the fields of a frame into bytes. */
final class FrameOutput {

  private static final int LONGEST_TEXT = 8 * 1024;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final DataOutputStream out = new DataOutputStream(bytes);

  FrameOutput(int tag) throws IOException {
    out.writeByte(tag);
  }

  FrameOutput flag(boolean value) throws IOException {
    out.writeByte(value ? 1 : 0);
    return this;
  }

  FrameOutput number(int value) throws IOException {
    out.writeInt(value);
    return this;
  }

  FrameOutput longNumber(long value) throws IOException {
    out.writeLong(value);
    return this;
  }

  FrameOutput bits(Bits256 value) throws IOException {
    out.write(value.bytes());
    return this;
  }

  /** Cuts a text to {@value #LONGEST_TEXT} bytes. */
  FrameOutput text(String value) throws IOException {
    byte[] text = value.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(text.length, LONGEST_TEXT);
    out.writeShort(length);
    out.write(text, 0, length);
    return this;
  }

  FrameOutput bytes(ByteBuffer value) throws IOException {
    var copy = new byte[value.remaining()];
    value.duplicate().get(copy);
    out.writeInt(copy.length);
    out.write(copy);
    return this;
  }

  FrameOutput texts(List<String> values) throws IOException {
    out.writeShort(values.size());
    for (String value : values) {
      text(value);
    }
    return this;
  }

  FrameOutput places(List<RankPlace> places) throws IOException {
    out.writeShort(places.size());
    for (RankPlace place : places) {
      number(place.rank()).longNumber(place.microStep()).longNumber(place.updates());
      text(place.activity()).longNumber(place.sequence()).text(place.operation());
      longNumber(place.bytes()).flag(place.waits());
    }
    return this;
  }

  FrameOutput failure(FailureNotice failure) throws IOException {
    number(failure.rank()).text(failure.host()).longNumber(failure.pid());
    number(failure.exitCode()).text(failure.end()).text(failure.cause());
    return text(failure.progress()).text(failure.log()).texts(failure.lastLines());
  }

  ByteBuffer done() {
    return ByteBuffer.wrap(bytes.toByteArray());
  }
}
