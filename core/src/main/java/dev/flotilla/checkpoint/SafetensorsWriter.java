package dev.flotilla.checkpoint;

import dev.flotilla.memory.TensorScope;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.bytedeco.pytorch.Tensor;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Writes tensors into a safetensors file.
 *
 * <p>Equal tensors give equal files, byte for byte. Tensors with larger elements come first, and
 * within one size the names are in order: every tensor is then aligned to its elements, as readers
 * that map the file expect. The elements go from native memory to the file without being copied.
 */
public final class SafetensorsWriter {

  private static final Comparator<LiveTensor> FILE_ORDER =
      Comparator.<LiveTensor>comparingInt(tensor -> tensor.type().bytes())
          .reversed()
          .thenComparing(LiveTensor::name, TensorName.ORDER);

  private SafetensorsWriter() {}

  /**
   * Writes dense tensors. An existing file is replaced, in one instant, when everything has reached
   * the disk; after a failure it is as it was.
   *
   * @param metadata texts to store beside the tensors; {@code format: pt} is always there
   * @throws CheckpointException if the file system fails
   * @throws IllegalArgumentException if a tensor or a name cannot be stored
   */
  public static void write(Path file, Map<String, Tensor> tensors, Map<String, String> metadata) {
    write(file, WeightSource.of(tensors), metadata);
  }

  /** Writes tensors as {@link #write(Path, Map, Map)} does, each brought when its turn comes. */
  public static void write(Path file, WeightSource weights, Map<String, String> metadata) {
    try (var _ = TensorScope.open()) {
      var content = content(LiveTensor.inNameOrder(weights), metadata);
      WholeFile.write(file, channel -> content.writeTo(bytes -> writeFully(channel, bytes)));
    }
  }

  /** Brings all tensors in the order in which they are written, and does nothing with them. */
  public static void visit(WeightSource weights) {
    LiveTensor.inNameOrder(weights).stream()
        .sorted(FILE_ORDER)
        .forEach(tensor -> weights.bring(tensor.name()));
  }

  /** Returns the bytes of a file; the tensors' memory must stay as it is until they are written. */
  static NotedFile.Content content(List<LiveTensor> tensors, Map<String, String> metadata) {
    tensors.forEach(tensor -> requireValid(tensor.name()));
    var stored = tensors.stream().sorted(FILE_ORDER).toList();
    byte[] header = header(stored, metadata);
    if (header.length > SafetensorsHeader.MAX_BYTES) {
      throw new IllegalArgumentException("the names need a header of more than 100 MB");
    }
    return writer -> writeAll(writer, header, stored);
  }

  private static void requireValid(String name) {
    TensorName.problem(name)
        .ifPresent(
            problem -> {
              throw new IllegalArgumentException(problem);
            });
    if (name.equals(TensorName.METADATA)) {
      throw new IllegalArgumentException("no tensor can be called " + name);
    }
  }

  private static byte[] header(List<LiveTensor> tensors, Map<String, String> metadata) {
    var bytes = new ByteArrayOutputStream();
    try (var json = new JsonFactory().createGenerator(ObjectWriteContext.empty(), bytes)) {
      json.writeStartObject();
      writeMetadata(json, metadata);
      long begin = 0;
      for (var tensor : tensors) {
        writeEntry(json, tensor, begin);
        begin += tensor.bytes();
      }
      json.writeEndObject();
    }
    while (bytes.size() % Long.BYTES != 0) {
      bytes.write(' ');
    }
    return bytes.toByteArray();
  }

  private static void writeMetadata(JsonGenerator json, Map<String, String> metadata) {
    var sorted = new TreeMap<String, String>(TensorName.ORDER);
    sorted.put("format", "pt");
    sorted.putAll(metadata);
    json.writeName(TensorName.METADATA).writeStartObject();
    sorted.forEach((key, value) -> json.writeName(key).writeString(value));
    json.writeEndObject();
  }

  private static void writeEntry(JsonGenerator json, LiveTensor tensor, long begin) {
    json.writeName(tensor.name()).writeStartObject();
    json.writeName("dtype").writeString(tensor.type().name());
    json.writeName("shape").writeArray(tensor.shape(), 0, tensor.shape().length);
    long end = begin + tensor.bytes();
    json.writeName("data_offsets").writeArray(new long[] {begin, end}, 0, 2);
    json.writeEndObject();
  }

  private static void writeAll(
      NotedFile.ChunkWriter writer, byte[] header, List<LiveTensor> tensors) throws IOException {
    var start = ByteBuffer.allocate(Long.BYTES + header.length).order(ByteOrder.LITTLE_ENDIAN);
    writer.write(start.putLong(header.length).put(header).flip());
    for (var tensor : tensors) {
      tensor.forEachChunk(writer::write);
    }
  }

  private static void writeFully(FileChannel channel, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }
}
