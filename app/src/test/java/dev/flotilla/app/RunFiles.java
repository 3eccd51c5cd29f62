package dev.flotilla.app;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

  String weights() {
    return summary().get("weights_sha256").asString();
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
