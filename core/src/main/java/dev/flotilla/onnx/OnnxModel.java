package dev.flotilla.onnx;

import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import java.util.SortedMap;

/** A finished graph as the bytes of a file. */
public final class OnnxModel {

  /** Version of the operators: LayerNormalization is there since, and all runtimes know it. */
  public static final int OPSET = 17;

  /** Version of the format that came with these operators. */
  private static final int IR_VERSION = 8;

  private final ProtoMessage proto;

  /**
   * Describes the file of a graph.
   *
   * @param name of the model
   * @param doc what people should know
   * @param metadata texts for programs, by key
   * @throws IllegalArgumentException if it is larger than the format allows
   */
  public OnnxModel(OnnxGraph graph, String name, String doc, SortedMap<String, String> metadata) {
    proto =
        new ProtoMessage()
            .number(1, IR_VERSION)
            .text(2, "flotilla")
            .text(6, doc)
            .message(7, graph.proto(name))
            .message(8, new ProtoMessage().text(1, "").number(2, OPSET));
    metadata.forEach(
        (key, value) -> proto.message(14, new ProtoMessage().text(1, key).text(2, value)));
    if (bytes() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "the model needs %,d bytes, but one file of ONNX cannot hold more than 2 GiB"
              .formatted(bytes()));
    }
  }

  /** Returns the size of the file. */
  public long bytes() {
    return proto.size();
  }

  /** Writes the file. */
  public void writeTo(WritableByteChannel channel) throws IOException {
    proto.writeTo(channel);
  }
}
