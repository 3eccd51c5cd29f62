package dev.flotilla.zoo.model;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Reads the sizes of a BERT from Hugging Face's {@code config.json}. */
final class BertConfigFile {

  private static final String KEY = "config";
  private static final long MOST_BYTES = 1 << 20;

  private final Path file;
  private final JsonNode root;

  private BertConfigFile(Path file, JsonNode root) {
    this.file = file;
    this.root = root;
  }

  /**
   * Reads a file.
   *
   * @throws ConfigException if it is missing, malformed, or describes another model
   */
  static BertSizes read(Path file) {
    return new BertConfigFile(file, parse(file)).sizes();
  }

  private static JsonNode parse(Path file) {
    try {
      if (Files.size(file) > MOST_BYTES) {
        throw problem(file, "is larger than a megabyte, which no config.json is");
      }
      var root = JsonMapper.shared().readTree(Files.readString(file));
      if (!root.isObject()) {
        throw problem(file, "must hold a JSON object");
      }
      return root;
    } catch (IOException e) {
      throw problem(file, "cannot be read: " + e.getMessage());
    } catch (JacksonException e) {
      throw problem(file, "is not JSON: " + e.getOriginalMessage());
    }
  }

  private BertSizes sizes() {
    requireText("model_type", "bert");
    requireText("hidden_act", "gelu");
    requireText("position_embedding_type", "absolute");
    var base = BertSizes.BASE;
    try {
      return new BertSizes(
          whole("vocab_size", base.vocabSize()),
          whole("hidden_size", base.hiddenSize()),
          whole("num_hidden_layers", base.numHiddenLayers()),
          whole("num_attention_heads", base.numAttentionHeads()),
          whole("intermediate_size", base.intermediateSize()),
          whole("max_position_embeddings", base.maxPositionEmbeddings()),
          whole("type_vocab_size", base.typeVocabSize()),
          real("hidden_dropout_prob", base.hiddenDropoutProb()),
          real("attention_probs_dropout_prob", base.attentionProbsDropoutProb()),
          real("layer_norm_eps", base.layerNormEps()),
          real("initializer_range", base.initializerRange()),
          whole("pad_token_id", base.padTokenId()));
    } catch (ConfigException e) {
      throw new ConfigException(
          e.problems().stream()
              .map(p -> new Problem("", KEY, file + ": " + p.key() + " " + p.message(), ""))
              .toList());
    }
  }

  private void requireText(String key, String only) {
    var value = root.path(key);
    if (!value.isMissingNode() && !value.asString("").equals(only)) {
      throw problem(file, "%s must be %s, but was %s".formatted(key, only, value));
    }
  }

  private int whole(String key, int otherwise) {
    var value = root.path(key);
    if (value.isMissingNode() || value.isNull()) {
      return otherwise;
    }
    if (!value.isInt()) {
      throw problem(file, "%s must be a whole number, but was %s".formatted(key, value));
    }
    return value.asInt();
  }

  private double real(String key, double otherwise) {
    var value = root.path(key);
    if (value.isMissingNode() || value.isNull()) {
      return otherwise;
    }
    if (!value.isNumber()) {
      throw problem(file, "%s must be a number, but was %s".formatted(key, value));
    }
    return value.asDouble();
  }

  private static ConfigException problem(Path file, String what) {
    return new ConfigException(List.of(new Problem("", KEY, file + ": " + what, "")));
  }
}
