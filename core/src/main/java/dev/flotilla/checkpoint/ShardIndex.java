package dev.flotilla.checkpoint;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SequencedSet;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The file that says which of several safetensors files holds which tensor.
 *
 * @param files names of tensors by file
 */
record ShardIndex(SequencedMap<Path, SequencedSet<String>> files) {

  private static final long MOST_BYTES = 100L << 20;

  static ShardIndex read(Path index) {
    var files = new LinkedHashMap<Path, SequencedSet<String>>();
    var map = parse(index).path("weight_map");
    if (!map.isObject() || map.isEmpty()) {
      throw new CheckpointException(index + ": holds no weight_map");
    }
    for (Map.Entry<String, JsonNode> entry : map.properties()) {
      String file = entry.getValue().asString("");
      // A shard lies beside its index; a path could name any file of the machine.
      if (!file.matches("[A-Za-z0-9._-]+") || file.startsWith(".")) {
        throw new CheckpointException(
            "%s: %s must be in a file beside the index, but is in '%s'"
                .formatted(index, TensorName.quote(entry.getKey()), file));
      }
      files
          .computeIfAbsent(index.resolveSibling(file), _ -> new LinkedHashSet<>())
          .add(entry.getKey());
    }
    return new ShardIndex(files);
  }

  private static JsonNode parse(Path index) {
    try {
      if (Files.size(index) > MOST_BYTES) {
        throw new CheckpointException(index + ": is larger than 100 MB");
      }
      return JsonMapper.shared().readTree(Files.readString(index));
    } catch (JacksonException e) {
      throw new CheckpointException(index + ": is not JSON: " + e.getOriginalMessage());
    } catch (IOException e) {
      throw CheckpointException.of("cannot read", index, e);
    }
  }
}
