package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.checkpoint.CheckpointException;
import dev.flotilla.checkpoint.PublishedWeights;
import dev.flotilla.checkpoint.WeightsDigest;
import dev.flotilla.memory.Precision;
import dev.flotilla.model.Model;
import dev.flotilla.pass.BoundModel;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Weights that Python's transformers and torch have written; see {@code references.py}. */
final class ExchangeTests {

  private static Path exported(String name) {
    try {
      var place = ExchangeTests.class.getResource("exported/" + name);
      return Path.of(Objects.requireNonNull(place, name).toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Model model() {
    return new Bert(exported("bert/config.json"), null, 20);
  }

  private static String loaded(Path file) {
    try (var bound = new BoundModel(model(), Precision.FLOAT32, 1, _ -> false);
        var weights = PublishedWeights.open(file)) {
      weights.fit(bound.state(), model().aliases()).requireExact().copy();
      return WeightsDigest.of(bound.state());
    }
  }

  private static String hashed() {
    try (var bound = new BoundModel(model(), Precision.FLOAT32, 1, _ -> false)) {
      HashedValues.fill(bound.state());
      return WeightsDigest.of(bound.state());
    }
  }

  @Test
  void readsSizesFromConfigJson() {
    assertThat(model().parameterCount()).isEqualTo(1_092);
    assertThat(model().configuration())
        .containsEntry("hidden_size", 8)
        .containsEntry("vocab_size", 30);
  }

  @Test
  void loadsWhatSavePretrainedWroteInShards() {
    assertThat(loaded(exported("bert"))).isEqualTo(hashed());
    assertThat(loaded(exported("bert/model.safetensors.index.json"))).isEqualTo(hashed());
  }

  @Test
  void loadsWhatTorchSaveWroteWithTheTiedDecoderTwice() {
    assertThat(loaded(exported("bert.pth"))).isEqualTo(hashed());
  }

  @Test
  void loadsABodyUnderAnotherHead() {
    var classifier = new Bert(exported("bert/config.json"), 3, 20);
    try (var bound = new BoundModel(classifier, Precision.FLOAT32, 1, _ -> false);
        var weights = PublishedWeights.open(exported("bert"))) {
      var fit = weights.fit(bound.state(), classifier.aliases());
      assertThat(fit.missing()).containsExactly("classifier.bias", "classifier.weight");
      assertThat(fit.unexpected()).allMatch(name -> name.startsWith("cls."));
      assertThatThrownBy(fit::requireExact)
          .isInstanceOf(CheckpointException.class)
          .hasMessageContaining("missing (2): classifier.bias, classifier.weight");
      fit.copy();
    }
  }
}
