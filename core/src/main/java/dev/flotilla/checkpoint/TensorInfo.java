package dev.flotilla.checkpoint;

import java.util.Arrays;

/** Describes a tensor in a file: name, type, shape, and where its bytes are. */
public final class TensorInfo {

  private final String name;
  private final TensorType type;
  private final long[] shape;
  private final long begin;
  private final long end;

  TensorInfo(String name, TensorType type, long[] shape, long begin, long end) {
    this.name = name;
    this.type = type;
    this.shape = shape;
    this.begin = begin;
    this.end = end;
  }

  /** Returns the name. */
  public String name() {
    return name;
  }

  /** Returns the type of the elements. */
  public TensorType type() {
    return type;
  }

  /** Returns the sizes of the dimensions; empty for a scalar. */
  public long[] shape() {
    return shape.clone();
  }

  /** Returns the number of the first byte, counted from the start of the file's data. */
  public long begin() {
    return begin;
  }

  /** Returns the number of the byte after the last one. */
  public long end() {
    return end;
  }

  /** Returns the number of bytes. */
  public long bytes() {
    return end - begin;
  }

  boolean matches(TensorType otherType, long[] otherShape) {
    return type == otherType && Arrays.equals(shape, otherShape);
  }

  /** Returns type and shape, for example {@code F32 [120, 400]}. */
  @Override
  public String toString() {
    return describe(type, shape);
  }

  static String describe(TensorType type, long[] shape) {
    return type + " " + Arrays.toString(shape);
  }
}
