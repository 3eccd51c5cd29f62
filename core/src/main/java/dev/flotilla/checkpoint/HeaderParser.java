package dev.flotilla.checkpoint;

import java.io.InputStream;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads the JSON text of a safetensors header and refuses everything that the format does not name.
 *
 * <p>The number of entries is limited, so that a small header cannot claim much heap.
 */
final class HeaderParser {

  static final int MAX_ENTRIES = 100_000;

  /** Characters of one text beside the tensors. */
  private static final int MAX_TEXT = 1 << 24;

  /** An object of objects with arrays. */
  private static final int MAX_DEPTH = 3;

  /** Names are not kept in tables shared between files: they come from strangers. */
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNameLength(TensorName.MAX_LENGTH)
                  .maxStringLength(MAX_TEXT)
                  .maxNumberLength(20)
                  .build())
          .build();

  private final HeaderTokens tokens;
  private final Map<String, TensorInfo> tensors = new LinkedHashMap<>();
  private @Nullable Map<String, String> metadata;

  private HeaderParser(HeaderTokens tokens) {
    this.tokens = tokens;
  }

  /** What a header says. */
  record Content(Map<String, TensorInfo> tensors, Map<String, String> metadata) {}

  static Content parse(Path file, InputStream text) {
    try (var json = JSON.createParser(ObjectReadContext.empty(), text)) {
      return new HeaderParser(new HeaderTokens(file, json)).read();
    } catch (JacksonException e) {
      throw CheckpointException.malformed(
          file,
          "the header is not the expected JSON%s: %s".formatted(place(e), e.getOriginalMessage()));
    }
  }

  /** Some of the parser's complaints come without a place. */
  private static String place(JacksonException e) {
    var location = e.getLocation();
    return location == null ? "" : " at its character " + location.getCharOffset();
  }

  private Content read() {
    tokens.enterObject(() -> "the header");
    for (var name = tokens.nextKey(); name != null; name = tokens.nextKey()) {
      if (name.equals(TensorName.METADATA)) {
        readMetadata();
      } else {
        readTensor(name);
      }
    }
    tokens.end();
    return new Content(tensors, metadata == null ? Map.of() : metadata);
  }

  private void readTensor(String name) {
    TensorName.problem(name)
        .ifPresent(
            problem -> {
              throw tokens.malformed(problem);
            });
    put(tensors, name, TensorEntry.read(name, tokens), "the header");
  }

  private void readMetadata() {
    if (metadata != null) {
      throw tokens.malformed("the header has %s twice".formatted(TensorName.METADATA));
    }
    metadata = new LinkedHashMap<>();
    tokens.enterObject(() -> TensorName.METADATA);
    for (var key = tokens.nextKey(); key != null; key = tokens.nextKey()) {
      put(metadata, key, readText(key), TensorName.METADATA);
    }
  }

  private String readText(String key) {
    return tokens.text(() -> "%s of %s".formatted(TensorName.quote(key), TensorName.METADATA));
  }

  private <V> void put(Map<String, V> entries, String key, V value, String where) {
    if (entries.put(key, value) != null) {
      throw tokens.malformed("%s has %s twice".formatted(where, TensorName.quote(key)));
    }
    if (entries.size() > MAX_ENTRIES) {
      throw tokens.malformed("%s has more than %,d entries".formatted(where, MAX_ENTRIES));
    }
  }
}
