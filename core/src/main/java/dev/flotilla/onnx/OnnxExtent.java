package dev.flotilla.onnx;

/**
 * One extent of a value's shape: a number, a name for what each call decides, or neither.
 *
 * @param size the number, or −1
 * @param name the name, or empty
 */
public record OnnxExtent(long size, String name) {

  /** The number of samples, which each call decides. */
  public static final OnnxExtent BATCH = named("batch");

  /** What nobody has computed. */
  static final OnnxExtent UNKNOWN = new OnnxExtent(-1, "");

  /** Returns a fixed extent. */
  public static OnnxExtent of(long size) {
    return new OnnxExtent(size, "");
  }

  /** Returns an extent that each call decides. */
  public static OnnxExtent named(String name) {
    return new OnnxExtent(-1, name);
  }

  /** Tells whether it is a number. */
  public boolean isKnown() {
    return size >= 0;
  }

  ProtoMessage proto() {
    var message = new ProtoMessage();
    if (isKnown()) {
      message.number(1, size);
    } else if (!name.isEmpty()) {
      message.text(2, name);
    }
    return message;
  }

  @Override
  public String toString() {
    return isKnown() ? Long.toString(size) : name.isEmpty() ? "?" : name;
  }
}
