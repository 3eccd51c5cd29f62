package dev.flotilla.zoo.data;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/** The {@code tokenizer.json} of a model of Hugging Face, of which this reads the tokens. */
final class TokenizerFile {

  private TokenizerFile() {}

  /**
   * Returns the numbers of tokens, also of those that were added to the model's own.
   *
   * @throws dev.flotilla.settings.ConfigException if the file is missing or no tokenizer
   */
  static SequencedMap<String, Integer> tokens(Path file) {
    var json = read(file);
    var ids = new LinkedHashMap<String, Integer>();
    var tokens = json.path("model").path("vocab");
    if (tokens.isArray()) {
      for (int i = 0; i < tokens.size(); i++) {
        ids.put(tokens.get(i).path(0).asString(""), i);
      }
    } else {
      tokens.properties().forEach(it -> ids.put(it.getKey(), it.getValue().asInt(-1)));
    }
    json.path("added_tokens")
        .forEach(it -> ids.put(it.path("content").asString(""), it.path("id").asInt(-1)));
    if (ids.isEmpty() || ids.containsKey("") || ids.containsValue(-1)) {
      throw problem(file, "is no tokenizer: it has no model with numbered tokens");
    }
    return ids;
  }

  private static JsonNode read(Path file) {
    try {
      return new ObjectMapper().readTree(Files.readAllBytes(file));
    } catch (NoSuchFileException _) {
      throw problem(file, "no such file");
    } catch (IOException e) {
      throw problem(file, "cannot be read: " + e.getMessage());
    } catch (JacksonException e) {
      throw problem(file, "is no JSON: " + e.getOriginalMessage());
    }
  }

  private static RuntimeException problem(Path file, String what) {
    return DataProblem.in(
        Vocabulary.KEY,
        file + ": " + what,
        "name the tokenizer.json that was saved with the model, or a vocabulary");
  }
}
