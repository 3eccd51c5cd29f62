package dev.flotilla.pickle;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Writes instructions of pickles, for tests. */
public final class PickleWriter {

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  /** Starts a pickle of protocol 2. */
  public PickleWriter() {
    code(0x80).code(2);
  }

  /** Adds an instruction or any other byte. */
  public PickleWriter code(int code) {
    out.write(code);
    return this;
  }

  /** Adds text that ends with a line feed. */
  public PickleWriter line(String text) {
    out.writeBytes((text + "\n").getBytes(StandardCharsets.UTF_8));
    return this;
  }

  /** Adds a 32-bit number, the lowest byte first. */
  public PickleWriter int32(int value) {
    out.writeBytes(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(value).array());
    return this;
  }

  /** Pushes a text of Python 2. */
  public PickleWriter oldText(String text) {
    return code('U').code(text.length()).raw(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  /** Pushes text. */
  public PickleWriter text(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return code('X').int32(bytes.length).raw(bytes);
  }

  /** Pushes many bytes as a text of Python 2. */
  public PickleWriter oldBytes(byte[] bytes) {
    return code('T').int32(bytes.length).raw(bytes);
  }

  /** Pushes a number. */
  public PickleWriter whole(int value) {
    return code('J').int32(value);
  }

  /** Pushes a named function or class. */
  public PickleWriter global(String module, String name) {
    return code('c').line(module).line(name);
  }

  /** Adds bytes as they are. */
  public PickleWriter raw(byte[] bytes) {
    out.writeBytes(bytes);
    return this;
  }

  /** Ends the pickle. */
  public byte[] end() {
    return code('.').out.toByteArray();
  }
}
