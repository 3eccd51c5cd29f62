package dev.flotilla.onnx;

import java.util.ArrayList;
import java.util.List;

/**
 * A tensor in a graph: an input, a weight, or what a node gives.
 *
 * @param name its name in the file
 * @param type of its elements
 * @param shape its extents, outermost first
 */
public record OnnxValue(String name, OnnxType type, List<OnnxExtent> shape) {

  /** Copies the list. */
  public OnnxValue {
    shape = List.copyOf(shape);
  }

  /** Returns a float32 input of samples of a shape, with any number of them. */
  public static OnnxValue samples(String name, List<Long> sampleShape) {
    List<OnnxExtent> shape = new ArrayList<>();
    shape.add(OnnxExtent.BATCH);
    sampleShape.forEach(size -> shape.add(OnnxExtent.of(size)));
    return new OnnxValue(name, OnnxType.FLOAT32, shape);
  }

  /** Returns the number of its extents. */
  public int rank() {
    return shape.size();
  }

  /** Returns one extent; a negative index counts from the end. */
  public OnnxExtent extent(int index) {
    return shape.get(index < 0 ? rank() + index : index);
  }

  /** Returns its shape with one extent changed; a negative index counts from the end. */
  List<OnnxExtent> shapeWith(int index, OnnxExtent extent) {
    List<OnnxExtent> changed = new ArrayList<>(shape);
    changed.set(index < 0 ? rank() + index : index, extent);
    return changed;
  }

  /** Returns it as a ValueInfoProto. */
  ProtoMessage proto() {
    var extents = new ProtoMessage();
    shape.forEach(extent -> extents.message(1, extent.proto()));
    var tensor = new ProtoMessage().number(1, type.number()).message(2, extents);
    return new ProtoMessage().text(1, name).message(2, new ProtoMessage().message(1, tensor));
  }

  /** Returns a text like {@code input float32 [batch, 3, 224, 224]}. */
  @Override
  public String toString() {
    return "%s %s %s".formatted(name, type.name().toLowerCase(java.util.Locale.ROOT), shape);
  }
}
