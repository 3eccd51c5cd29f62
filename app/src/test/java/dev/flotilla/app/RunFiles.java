package dev.flotilla.app;

import dev.flotilla.checkpoint.SafetensorsFile;
import dev.flotilla.checkpoint.TensorType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a run has left in its folder. */
record RunFiles(Path folder) {

  JsonNode summary() {
    return json(read("summary.json"));
  }

  /** Returns the events in their order; each line must be JSON by itself. */
  List<JsonNode> events() {
    return read("events.jsonl").lines().map(RunFiles::json).toList();
  }

  Path model() {
    return folder.resolve("model.safetensors");
  }

  /** Returns the digests of the weights and, where the run keeps one, of their moving average. */
  String weights() {
    return summary().get("weights_sha256").asString() + summary().path("ema_sha256").asString("");
  }

  /** Reads the float32 tensors of the saved model, without libtorch. */
  Map<String, float[]> tensors() {
    try (var file = SafetensorsFile.open(model())) {
      var bytes = ByteBuffer.wrap(Files.readAllBytes(model())).order(ByteOrder.LITTLE_ENDIAN);
      // Eight bytes say how long the header is.
      int start = Math.toIntExact(Long.BYTES + bytes.getLong(0));
      var tensors = new TreeMap<String, float[]>();
      for (var tensor : file.tensors()) {
        if (tensor.type() == TensorType.F32) {
          tensors.put(tensor.name(), floats(bytes, start + tensor.begin(), tensor.bytes()));
        }
      }
      return tensors;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static float[] floats(ByteBuffer bytes, long from, long length) {
    var values = new float[Math.toIntExact(length / Float.BYTES)];
    bytes
        .slice(Math.toIntExact(from), Math.toIntExact(length))
        .order(ByteOrder.LITTLE_ENDIAN)
        .asFloatBuffer()
        .get(values);
    return values;
  }

  static JsonNode json(String text) {
    return JsonMapper.shared().readTree(text);
  }

  private String read(String name) {
    try {
      return Files.readString(folder.resolve(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
