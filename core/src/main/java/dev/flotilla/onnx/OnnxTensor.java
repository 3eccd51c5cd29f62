package dev.flotilla.onnx;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Numbers that are part of a file.
 *
 * @param type of its elements
 * @param shape its extents, outermost first; empty for a single number
 * @param data the elements, dense and little-endian; it must stay until the file is written
 */
public record OnnxTensor(OnnxType type, List<Long> shape, MemorySegment data) {

  /** Copies the list. */
  public OnnxTensor {
    shape = List.copyOf(shape);
  }

  /** Returns a row of whole numbers. */
  static OnnxTensor of(long... values) {
    var bytes = ByteBuffer.allocate(values.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    LongStream.of(values).forEach(bytes::putLong);
    return new OnnxTensor(
        OnnxType.INT64, List.of((long) values.length), MemorySegment.ofArray(bytes.array()));
  }

  /** Returns a single whole number. */
  static OnnxTensor ofOne(long value) {
    return new OnnxTensor(OnnxType.INT64, List.of(), of(value).data());
  }

  /** Returns numbers of a shape. */
  static OnnxTensor of(List<Long> shape, float... values) {
    var bytes = ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (float value : values) {
      bytes.putFloat(value);
    }
    return new OnnxTensor(OnnxType.FLOAT32, shape, MemorySegment.ofArray(bytes.array()));
  }

  /** Returns it as what a graph calls by a name. */
  OnnxValue named(String name) {
    return new OnnxValue(name, type, shape.stream().map(OnnxExtent::of).toList());
  }

  /** Returns it as a TensorProto. */
  ProtoMessage proto(String name) {
    var message = new ProtoMessage();
    shape.forEach(size -> message.number(1, size));
    return message.number(2, type.number()).text(8, name).bytes(9, data);
  }
}
