package dev.flotilla.predict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.checkpoint.CheckpointException;
import dev.flotilla.checkpoint.SafetensorsFile;
import dev.flotilla.config.SavedRun;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.model.Classification;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Sgd;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.Mlp;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.bytedeco.pytorch.LinearImpl;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a run has learnt leaves it whole, or not at all. */
class ModelExportTests {

  private static final Mlp MODEL = new Mlp(1024, List.of(8), 10);

  @TempDir static Path folder;
  private static Path run;

  @BeforeAll
  static void train() {
    run = DigitsRun.train(folder.resolve("digits"), "float32");
  }

  private static double[] outputs(Predictor predictor) {
    return predictor.predict(new Digits().test(), 0).getFirst().outputs();
  }

  @ParameterizedTest
  @ValueSource(strings = {"float32", "float64"})
  void weightsAreThoseOfTheRunToTheBit(String precision) {
    var source =
        precision.equals("float32") ? run : DigitsRun.train(folder.resolve("exact"), precision);
    var file = folder.resolve(precision + ".safetensors");
    var exported = ModelExport.of(source).toSafetensors(file);
    assertThat(exported.parameters()).isEqualTo(8290);
    try (var saved = SafetensorsFile.open(source.resolve("model.safetensors"));
        var copy = SafetensorsFile.open(file)) {
      assertThat(copy.tensors()).hasSize(4).hasSameSizeAs(saved.tensors());
      assertThat(copy.tensors().getFirst()).hasToString(saved.tensors().getFirst().toString());
      assertThat(copy.metadata())
          .containsEntry("format", "pt")
          .containsEntry("model", "mlp")
          .containsEntry("task", "classification")
          .containsEntry("sample_shape", "1x32x32")
          .containsEntry("weights_sha256", digest(source))
          .containsEntry(
              "class_names", "[\"0\",\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\"]")
          .containsEntry(
              "normalization",
              "(x / 255 - 0.1307) / 0.3081, an image of 28x28 with a border of two black pixels");
    }
    if (precision.equals("float32")) {
      try (var ofRun = Predictor.load(source, DeviceChoice.CPU);
          var ofCopy = Predictor.load(file, MODEL, DeviceChoice.CPU)) {
        assertThat(outputs(ofCopy)).isEqualTo(outputs(ofRun));
      }
    }
  }

  private static String digest(Path source) {
    return String.valueOf(SavedRun.summary(source).get("weights_sha256"));
  }

  @Test
  void onnxHoldsWeightsClassesAndWhatInputsAre() throws IOException {
    var file = folder.resolve("digits.onnx");
    var exported = ModelExport.of(run).toOnnx(file);
    assertThat(exported.inputs()).containsExactly("input float32 [batch, 1, 32, 32]");
    assertThat(exported.outputs()).containsExactly("logits float32 [batch, 10]");
    assertThat(Files.readString(file, StandardCharsets.ISO_8859_1))
        .contains("fc1.weight", "fc2.bias", digest(run), "[\"0\",\"1\"")
        .contains("Inputs are normalised: (x / 255 - 0.1307) / 0.3081");
  }

  @Test
  void aCheckpointIsExportedToo() throws IOException {
    try (var checkpoints = Files.list(run.resolve("checkpoints"))) {
      var checkpoint = checkpoints.filter(Files::isDirectory).findFirst().orElseThrow();
      var file = folder.resolve("checkpoint.safetensors");
      ModelExport.of(checkpoint).toSafetensors(file);
      try (var copy = SafetensorsFile.open(file)) {
        assertThat(copy.metadata()).containsEntry("weights_sha256", digest(run));
      }
    }
  }

  @Test
  void whatIsThereAlreadyStaysUnlessItIsToBeReplaced() throws IOException {
    var file = Files.writeString(folder.resolve("there.onnx"), "mine");
    var export = ModelExport.of(run);
    assertThatThrownBy(() -> export.toOnnx(file))
        .isInstanceOf(ConfigException.class)
        .hasMessage(
            "out: %s is there already; name another file, or replace it with --force (in Java:"
                    .formatted(file)
                + " replacing())");
    assertThatThrownBy(() -> export.toSafetensors(file)).isInstanceOf(ConfigException.class);
    assertThat(file).hasContent("mine");
    export.replacing().toOnnx(file);
    assertThat(Files.size(file)).isGreaterThan(4 * 8290L);
  }

  @Test
  void aPlaceThatCannotBeWrittenIsNamed() {
    var export = ModelExport.of(run);
    assertThatThrownBy(() -> export.toOnnx(folder))
        .hasMessage("out: %s is a folder; name a file", folder);
    assertThatThrownBy(() -> export.toOnnx(folder.resolve("no/model.onnx")))
        .hasMessage("out: there is no folder %s; make it, or name another", folder.resolve("no"));
    assertThatThrownBy(() -> export.toSafetensors(Path.of("/proc/model.safetensors")))
        .hasMessageContaining("cannot write")
        .hasMessageContaining("/proc");
    assertThat(folder.toFile().list()).noneMatch(name -> name.endsWith(".tmp"));
  }

  @Test
  void weightsThatTheRunHasNotSavedAreRefused() throws IOException {
    var copy = Files.createDirectories(folder.resolve("changed"));
    Files.copy(run.resolve("summary.json"), copy.resolve("summary.json"));
    assertThatThrownBy(() -> ModelExport.of(copy).toSafetensors(folder.resolve("none")))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("changed/model.safetensors");
    var bytes = Files.readAllBytes(run.resolve("model.safetensors"));
    bytes[bytes.length - 1] ^= 1;
    Files.write(copy.resolve("model.safetensors"), bytes);
    assertThatThrownBy(() -> ModelExport.of(copy).toOnnx(folder.resolve("none")))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("is not what the run has saved: its weights_sha256 is ");
    assertThat(folder.resolve("none")).doesNotExist();
  }

  @Test
  void aModuleOfLibtorchIsSafetensorsAndNotOnnx() {
    NativeLibraries.load();
    try (var module = new LinearImpl(4, 2)) {
      var model = Model.of(module, (x, _) -> module.forward(x), new Classification());
      var weights = folder.resolve("module.safetensors");
      try (var trainer = Trainer.on(World.solo()).model(model).optimizer(new Sgd(0.1)).build()) {
        trainer.saveModel(weights);
      }
      var export = ModelExport.of(weights, model).withSampleShape(4);
      assertThatThrownBy(() -> export.toOnnx(folder.resolve("module.onnx")))
          .isInstanceOf(ConfigException.class)
          .hasMessage(
              "format: segment 'module' of LinearImpl is code that calls libtorch, of which no ONNX"
                  + " graph can be made; export safetensors instead, or have the segment implement"
                  + " OnnxExportable");
      assertThat(export.toSafetensors(folder.resolve("copy.safetensors")).parameters())
          .isEqualTo(10);
    }
    assertThat(folder.resolve("module.onnx")).doesNotExist();
  }
}
