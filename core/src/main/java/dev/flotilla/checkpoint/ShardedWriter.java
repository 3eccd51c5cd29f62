package dev.flotilla.checkpoint;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.bytedeco.pytorch.Tensor;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes a model as Hugging Face does: {@code model.safetensors}, or {@code
 * model-00001-of-00003.safetensors} and so on with {@code model.safetensors.index.json} where one
 * file would be too large.
 */
public final class ShardedWriter {

  private ShardedWriter() {}

  /**
   * Writes tensors into a folder. The index is written last, so that it never names a file that is
   * not whole.
   *
   * @param mostBytes bytes of tensors per file; a larger tensor has a file of its own
   * @throws CheckpointException if the file system fails
   */
  public static void write(Path folder, Map<String, Tensor> tensors, long mostBytes) {
    var shards = shards(tensors, mostBytes);
    if (shards.size() == 1) {
      SafetensorsWriter.write(folder.resolve("model.safetensors"), shards.getFirst(), Map.of());
      return;
    }
    var files = new TreeMap<String, String>(TensorName.ORDER);
    for (int i = 0; i < shards.size(); i++) {
      String file = "model-%05d-of-%05d.safetensors".formatted(i + 1, shards.size());
      SafetensorsWriter.write(folder.resolve(file), shards.get(i), Map.of());
      shards.get(i).keySet().forEach(name -> files.put(name, file));
    }
    long total = tensors.values().stream().mapToLong(ShardedWriter::bytes).sum();
    Map<String, Object> index = new LinkedHashMap<>();
    index.put("metadata", Map.of("total_size", total));
    index.put("weight_map", files);
    byte[] json =
        (JsonMapper.shared().writerWithDefaultPrettyPrinter().writeValueAsString(index) + "\n")
            .getBytes(StandardCharsets.UTF_8);
    WholeFile.write(
        folder.resolve("model.safetensors.index.json"),
        channel -> {
          var bytes = ByteBuffer.wrap(json);
          while (bytes.hasRemaining()) {
            channel.write(bytes);
          }
        });
  }

  private static List<Map<String, Tensor>> shards(Map<String, Tensor> tensors, long mostBytes) {
    List<Map<String, Tensor>> shards = new ArrayList<>();
    Map<String, Tensor> shard = new TreeMap<>(TensorName.ORDER);
    long filled = 0;
    for (var entry : new TreeMap<>(tensors).entrySet()) {
      long bytes = bytes(entry.getValue());
      if (!shard.isEmpty() && filled + bytes > mostBytes) {
        shards.add(shard);
        shard = new TreeMap<>(TensorName.ORDER);
        filled = 0;
      }
      shard.put(entry.getKey(), entry.getValue());
      filled += bytes;
    }
    shards.add(shard);
    return shards;
  }

  private static long bytes(Tensor tensor) {
    return tensor.numel() * tensor.element_size();
  }
}
