package dev.flotilla.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PublishedWeightsTests {

  private static final Map<String, String> TIED = Map.of("decoder.weight", "bert.words.weight");

  @TempDir Path folder;
  private TensorScope scope;

  @BeforeEach
  void openScope() {
    scope = TensorScope.open();
  }

  @AfterEach
  void closeScope() {
    scope.close();
  }

  private static Tensor filled(double value, long... shape) {
    var tensor = dev.flotilla.memory.Tensors.empty(torch.ScalarType.Float, shape);
    var memory = NativeView.of(tensor);
    for (long i = 0; i < tensor.numel(); i++) {
      memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) (value + i));
    }
    return tensor;
  }

  private static Map<String, Tensor> model() {
    var model = new TreeMap<String, Tensor>();
    model.put("bert.words.weight", filled(0, 3, 2));
    model.put("bert.norm.weight", filled(0, 2));
    model.put("bert.norm.bias", filled(0, 2));
    model.put("bn.num_batches_tracked", dev.flotilla.memory.Tensors.ofLongs(5).view());
    return model;
  }

  private Path write(String name, Map<String, Tensor> tensors) {
    var file = folder.resolve(name);
    SafetensorsWriter.write(file, tensors, Map.of());
    return file;
  }

  private static float[] values(@Nullable Tensor tensor) {
    return NativeView.of(Objects.requireNonNull(tensor)).toArray(ValueLayout.JAVA_FLOAT);
  }

  private static Map<String, Tensor> loaded(Path file) {
    var model = model();
    try (var weights = PublishedWeights.open(file)) {
      weights.fit(model, TIED).requireExact().copy();
    }
    return model;
  }

  private static Map<String, Tensor> published(String prefix, String scale, String offset) {
    var tensors = new TreeMap<String, Tensor>();
    tensors.put(prefix + "words.weight", filled(1, 3, 2));
    tensors.put(prefix + "norm." + scale, filled(2, 2));
    tensors.put(prefix + "norm." + offset, filled(3, 2));
    return tensors;
  }

  @Test
  void knowsThePrefixesAndOldNamesOfPythonsFiles() {
    for (String prefix : new String[] {"", "bert.", "module.", "module.bert."}) {
      for (String[] names : new String[][] {{"weight", "bias"}, {"gamma", "beta"}}) {
        var model = loaded(write("w.safetensors", published(prefix, names[0], names[1])));
        assertThat(values(model.get("bert.words.weight"))).containsExactly(1, 2, 3, 4, 5, 6);
        assertThat(values(model.get("bert.norm.weight"))).containsExactly(2, 3);
        assertThat(values(model.get("bert.norm.bias"))).containsExactly(3, 4);
      }
    }
  }

  @Test
  void listsEverythingThatDoesNotFit() {
    var tensors = published("bert.", "weight", "offset");
    tensors.put("bert.words.weight", filled(0, 4, 2));
    tensors.put("fc.weight", filled(0, 1));
    var file = write("w.safetensors", tensors);
    assertThatThrownBy(() -> loaded(file))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("w.safetensors does not fit the model")
        .hasMessageContaining("missing (1): bert.norm.bias")
        .hasMessageContaining("unexpected (2): bert.norm.offset, fc.weight")
        .hasMessageContaining(
            "mismatched (1): bert.words.weight: [4, 2] in the file, [3, 2] in the model");
  }

  @Test
  void copiesWhatFitsWhereThatIsAsked() {
    var tensors = published("bert.", "weight", "offset");
    var model = model();
    try (var weights = PublishedWeights.open(write("w.safetensors", tensors))) {
      weights.fit(model, TIED).copy();
    }
    assertThat(values(model.get("bert.norm.weight"))).containsExactly(2, 3);
    assertThat(values(model.get("bert.norm.bias"))).containsExactly(0, 1);
    var strange = write("s.safetensors", Map.of("x", filled(0, 1)));
    try (var weights = PublishedWeights.open(strange)) {
      assertThatThrownBy(() -> weights.fit(model, TIED).copy())
          .hasMessageContaining("nothing in common");
    }
  }

  @Test
  void takesATiedParameterUnderEitherName() {
    var tensors = published("bert.", "weight", "bias");
    tensors.put("decoder.weight", filled(1, 3, 2));
    loaded(write("both.safetensors", tensors));
    tensors.remove("bert.words.weight");
    assertThat(values(loaded(write("one.safetensors", tensors)).get("bert.words.weight")))
        .containsExactly(1, 2, 3, 4, 5, 6);
    tensors.put("bert.words.weight", filled(9, 3, 2));
    var file = write("different.safetensors", tensors);
    assertThatThrownBy(() -> loaded(file))
        .hasMessageContaining("decoder.weight differs from bert.words.weight");
  }

  @Test
  void convertsOtherNumberTypes() {
    var tensors = published("bert.", "weight", "bias");
    tensors.replaceAll((_, tensor) -> tensor.to(torch.ScalarType.Half));
    assertThat(values(loaded(write("w.safetensors", tensors)).get("bert.norm.bias")))
        .containsExactly(3, 4);
  }

  @Test
  void writesAndReadsShards() {
    var tensors = published("bert.", "weight", "bias");
    ShardedWriter.write(folder, tensors, 20);
    assertThat(folder.resolve("model-00001-of-00002.safetensors")).exists();
    assertThat(folder.resolve("model.safetensors.index.json"))
        .content()
        .contains("\"total_size\" : 40");
    assertThat(values(loaded(folder).get("bert.words.weight"))).containsExactly(1, 2, 3, 4, 5, 6);
    var index = folder.resolve("model.safetensors.index.json");
    assertThat(values(loaded(index).get("bert.norm.weight"))).containsExactly(2, 3);
  }

  @Test
  void writesOneFileWhereItFits() {
    ShardedWriter.write(folder, published("bert.", "weight", "bias"), 40);
    assertThat(folder).isDirectoryNotContaining("glob:**index.json");
    loaded(folder);
  }

  @Test
  void namesAShardThatIsNotAsTheIndexSays() throws IOException {
    ShardedWriter.write(folder, published("bert.", "weight", "bias"), 20);
    Files.delete(folder.resolve("model-00002-of-00002.safetensors"));
    assertThatThrownBy(() -> loaded(folder))
        .hasMessageContaining("model-00002-of-00002.safetensors");
    write("model-00002-of-00002.safetensors", Map.of("other", filled(0, 1)));
    assertThatThrownBy(() -> loaded(folder))
        .hasMessageContaining("the index says that it holds 'bert.words.weight'");
  }

  @Test
  void readsNoFileOutsideTheFolderOfTheIndex() throws IOException {
    var index = folder.resolve("model.safetensors.index.json");
    Files.writeString(index, "{\"weight_map\": {\"a\": \"../secret.safetensors\"}}");
    assertThatThrownBy(() -> PublishedWeights.open(index))
        .hasMessageContaining("'a' must be in a file beside the index");
    Files.writeString(index, "{");
    assertThatThrownBy(() -> PublishedWeights.open(index)).hasMessageContaining("is not JSON");
    Files.writeString(index, "{}");
    assertThatThrownBy(() -> PublishedWeights.open(index)).hasMessageContaining("no weight_map");
  }
}
