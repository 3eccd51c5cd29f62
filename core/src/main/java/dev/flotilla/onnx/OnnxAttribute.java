package dev.flotilla.onnx;

/** A setting of a node, by name. */
public final class OnnxAttribute {

  private static final int FLOAT = 1;
  private static final int INT = 2;
  private static final int INTS = 7;

  private final ProtoMessage proto;

  private OnnxAttribute(ProtoMessage proto) {
    this.proto = proto;
  }

  /** Returns a whole number. */
  public static OnnxAttribute of(String name, long value) {
    return new OnnxAttribute(new ProtoMessage().text(1, name).number(3, value).number(20, INT));
  }

  /** Returns a real number, in float32. */
  public static OnnxAttribute of(String name, double value) {
    return new OnnxAttribute(
        new ProtoMessage().text(1, name).real(2, (float) value).number(20, FLOAT));
  }

  /** Returns a row of whole numbers. */
  public static OnnxAttribute ofRow(String name, long... values) {
    var message = new ProtoMessage().text(1, name);
    for (long value : values) {
      message.number(8, value);
    }
    return new OnnxAttribute(message.number(20, INTS));
  }

  /** Returns it as an AttributeProto. */
  ProtoMessage proto() {
    return proto;
  }
}
