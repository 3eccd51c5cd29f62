package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.checkpoint.SafetensorsWriter;
import dev.flotilla.data.Batch;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.Activations;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Shape;
import dev.flotilla.model.SquaredError;
import dev.flotilla.model.Weights;
import dev.flotilla.onnx.OnnxExportable;
import dev.flotilla.onnx.OnnxGraph;
import dev.flotilla.onnx.OnnxLayers;
import dev.flotilla.onnx.OnnxValue;
import dev.flotilla.predict.ModelExport;
import dev.flotilla.predict.Predictor;
import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every model of the zoo says in onnxruntime what it says here. */
class OnnxTests {

  private static final double MOST = 1e-5;

  @TempDir Path folder;

  static Stream<Arguments> imageModels() {
    return Stream.of(
        Arguments.of(new Mlp(12, List.of(8, 6), 4, 0.5), new long[] {12}),
        Arguments.of(new Mlp(12, List.of(8), 4), new long[] {1, 3, 4}),
        Arguments.of(new LeNet5(10), new long[] {1, 32, 32}),
        Arguments.of(resNet18(Stem.IMAGENET, Normalization.BATCH), new long[] {3, 37, 50}),
        Arguments.of(resNet18(Stem.CIFAR, Normalization.BATCH), new long[] {3, 16, 16}),
        Arguments.of(resNet18(Stem.CIFAR, Normalization.GROUP), new long[] {3, 15, 17}),
        Arguments.of(
            new ResNet50(7, Stem.IMAGENET, Normalization.BATCH, 1, false, 4),
            new long[] {3, 32, 32}),
        // Means over 7x7 regions of 1x1, 2x3 and 9x8 numbers: repeated, uneven, overlapping.
        Arguments.of(new Vgg16(5, 0.5, 24, 4), new long[] {3, 32, 32}),
        Arguments.of(new Vgg16Bn(5, 0.5, 24, 4), new long[] {3, 64, 96}),
        Arguments.of(new Vgg16(5, 0.5, 24, 1), new long[] {3, 288, 256}));
  }

  private static Model resNet18(Stem stem, Normalization normalization) {
    return new ResNet18(5, stem, normalization, 4, false, 8);
  }

  @ParameterizedTest
  @MethodSource("imageModels")
  void imagesAreClassifiedAlike(Model model, long[] shape) throws Exception {
    assertImagesAlike(model, shape);
  }

  static Stream<Arguments> publishedModels() {
    return Stream.of(
        Arguments.of(new ResNet18(), new long[] {3, 224, 224}),
        Arguments.of(new ResNet50(), new long[] {3, 224, 224}),
        Arguments.of(new Vgg16(), new long[] {3, 224, 224}),
        Arguments.of(new Vgg16Bn(), new long[] {3, 224, 224}));
  }

  @ParameterizedTest
  @MethodSource("publishedModels")
  @Tag("thorough")
  void publishedSizesAreClassifiedAlike(Model model, long[] shape) throws Exception {
    assertImagesAlike(model, shape);
  }

  private void assertImagesAlike(Model model, long[] shape) throws Exception {
    var weights = hashedWeights(model);
    var file = folder.resolve("model.onnx");
    var exported = ModelExport.of(weights, model).withSampleShape(shape).replacing().toOnnx(file);
    assertThat(exported.bytes()).isEqualTo(Files.size(file));
    try (var predictor = Predictor.load(weights, model, DeviceChoice.CPU);
        var session = new OnnxSession(file);
        var _ = TensorScope.open()) {
      for (int samples : List.of(1, 3)) {
        var images = images(samples, shape);
        assertClose(session.run(images).getFirst(), predictor.predict(images));
      }
    }
  }

  private Path hashedWeights(Model model) {
    var weights = folder.resolve("weights.safetensors");
    try (var bound = ReferenceTests.bind(model, Precision.FLOAT32)) {
      SafetensorsWriter.write(weights, bound.state(), Map.of());
    }
    return weights;
  }

  private static Tensor images(int samples, long[] shape) {
    var extents = LongStream.concat(LongStream.of(samples), LongStream.of(shape)).toArray();
    var images = Tensors.empty(torch.ScalarType.Float, extents);
    var memory = NativeView.of(images);
    for (long i = 0; i < images.numel(); i++) {
      memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) (HashedValues.uniform("input", i) * 4));
    }
    return images;
  }

  /** Relative to the largest output, where that is above 1. */
  private static void assertClose(Tensor actual, Tensor expected) {
    assertThat(actual.shape()).isEqualTo(expected.shape());
    double largest = expected.abs().max().item_double();
    double difference = actual.sub(expected).abs().max().item_double();
    assertThat(largest).isGreaterThan(1e-3);
    assertThat(difference / Math.max(1, largest)).isLessThan(MOST);
  }

  private static Model tiny(@Nullable Integer classes) {
    return new BertTiny(classes, 20, 120, 32, 2, 4, 64, 24, 0.1, 0.1);
  }

  static Stream<Model> classifyingBerts() {
    return Stream.of(
        tiny(3),
        new BertBase(3, 20, 120, 48, 3, 4, 96, 24, 0.1, 0.1),
        new BertLarge(2, 20, 120, 64, 4, 8, 128, 24, 0.1, 0.1));
  }

  @ParameterizedTest
  @MethodSource("classifyingBerts")
  void sequencesAreClassifiedAlike(Model model) throws Exception {
    assertSequencesAlike(model, 24);
  }

  @Test
  @Tag("thorough")
  void sequencesAreClassifiedAlikeByBertBase() throws Exception {
    var base = new BertBase();
    assertSequencesAlike(
        new BertBase(
            2,
            base.nspWeight(),
            base.vocabSize(),
            base.hiddenSize(),
            base.numHiddenLayers(),
            base.numAttentionHeads(),
            base.intermediateSize(),
            base.maxPositionEmbeddings(),
            base.hiddenDropoutProb(),
            base.attentionProbsDropoutProb()),
        128);
  }

  private void assertSequencesAlike(Model model, int longest) throws Exception {
    var weights = hashedWeights(model);
    var file = folder.resolve("bert.onnx");
    ModelExport.of(weights, model).toOnnx(file);
    try (var predictor = Predictor.load(weights, model, DeviceChoice.CPU);
        var session = new OnnxSession(file);
        var _ = TensorScope.open()) {
      for (int length : List.of(7, longest)) {
        for (int samples : List.of(1, 3)) {
          var text = Text.of(samples, length);
          assertClose(
              session.run(text.tokens(), text.attention(), text.types()).getFirst(),
              predictor.predict(text.tokens(), text.types(), text.positions(), text.attention()));
        }
      }
    }
  }

  /** Here the rows of masked positions alone are computed, there those of all. */
  @Test
  void tokensAndSentencesAreGuessedAlike() throws Exception {
    var model = tiny(null);
    var weights = hashedWeights(model);
    var file = folder.resolve("bert.onnx");
    ModelExport.of(weights, model).toOnnx(file);
    try (var predictor = Predictor.load(weights, model, DeviceChoice.CPU);
        var session = new OnnxSession(file);
        var _ = TensorScope.open()) {
      assertThat(session.outputs())
          .isEqualTo(
              Map.of(
                  "prediction_logits", List.of(-1L, -1L, 120L),
                  "seq_relationship_logits", List.of(-1L, 2L)));
      var text = Text.of(3, 12);
      var masked = Tensors.ofLongs(1, 5, 2, -1, 0, 3).view(3, 2);
      var inputs = List.of(text.tokens(), text.types(), text.positions(), text.attention(), masked);
      var expected = predictor.predict(new Batch(inputs, masked, 3)).tensors();
      var actual = session.run(text.tokens(), text.attention(), text.types());
      var rows = actual.getFirst().view(36, 120).index_select(0, Tensors.ofLongs(1, 5, 14, 24, 27));
      assertClose(rows, expected.get(0));
      assertClose(actual.get(1), expected.get(1));
    }
  }

  /** Sequences of unequal length, the last ones padded. */
  private record Text(Tensor tokens, Tensor types, Tensor positions, Tensor attention) {

    static Text of(int samples, int length) {
      var tokens = new long[samples * length];
      var types = new long[samples * length];
      var positions = new long[samples * length];
      var attention = new long[samples * length];
      for (int i = 0; i < samples; i++) {
        for (int j = 0; j < length; j++) {
          int at = i * length + j;
          attention[at] = j < length - 2 * i ? 1 : 0;
          tokens[at] = attention[at] * HashedValues.whole("tokens", at, 120);
          types[at] = j >= 3 ? attention[at] : 0;
          positions[at] = attention[at] * j;
        }
      }
      return new Text(
          Tensors.ofLongs(tokens).view(samples, length),
          Tensors.ofLongs(types).view(samples, length),
          Tensors.ofLongs(positions).view(samples, length),
          Tensors.ofLongs(attention).view(samples, length));
    }
  }

  @Test
  void namesShapesAndMetadataAreInTheFile() throws Exception {
    var model = new LeNet5(10);
    var file = folder.resolve("lenet5.onnx");
    var exported =
        ModelExport.of(hashedWeights(model), model).withSampleShape(1, 32, 32).toOnnx(file);
    try (var session = new OnnxSession(file)) {
      assertThat(session.inputs()).isEqualTo(Map.of("input", List.of(-1L, 1L, 32L, 32L)));
      assertThat(session.outputs()).isEqualTo(Map.of("logits", List.of(-1L, 10L)));
      var metadata = session.metadata();
      assertThat(metadata.getProducerName()).isEqualTo("flotilla");
      assertThat(metadata.getGraphName()).isEqualTo("lenet5");
      assertThat(metadata.getCustomMetadata())
          .containsEntry("model", "lenet5")
          .containsEntry("task", "classification")
          .containsEntry("sample_shape", "1x32x32")
          .containsKey("weights_sha256");
    }
    assertThat(exported)
        .hasToString(
            "61,706 parameters exported into %s, %,d bytes\n".formatted(file, Files.size(file))
                + "takes input float32 [batch, 1, 32, 32]\ngives logits float32 [batch, 10]");
  }

  @Test
  void theDecoderIsInTheFileOnce() throws IOException {
    var model = tiny(null);
    var file = folder.resolve("bert.onnx");
    long bytes = ModelExport.of(hashedWeights(model), model).toOnnx(file).bytes();
    assertThat(bytes).isBetween(4 * model.parameterCount(), 4 * model.parameterCount() + 20_000);
    try (var entries = Files.list(folder)) {
      assertThat(entries.map(entry -> entry.getFileName().toString()))
          .containsExactlyInAnyOrder("bert.onnx", "weights.safetensors");
    }
  }

  /** A user's own segment, of what core offers alone. */
  private record Cubed() implements Segment, OnnxExportable {

    @Override
    public String name() {
      return "cubed";
    }

    @Override
    public List<ParameterSpec> parameters() {
      return List.of(
          ParameterSpec.weight("out.weight", Shape.of(2, 3), 3),
          ParameterSpec.bias("out.bias", 2, 3));
    }

    @Override
    public Forward bind(Weights weights) {
      Tensor weight = weights.parameter("out.weight");
      var bias = weights.optional("out.bias");
      return (input, _) -> {
        Tensor x = input.only();
        return Activations.of(torch.linear(x.mul(x).mul(x), weight, bias));
      };
    }

    @Override
    public List<OnnxValue> addTo(OnnxGraph graph, List<OnnxValue> inputs) {
      var x = inputs.getFirst();
      var cubed = graph.like(x, "Pow", graph.constant(3.0));
      return List.of(OnnxLayers.linear(graph, cubed, "out"));
    }
  }

  private record OwnModel() implements Model {

    @Override
    public String name() {
      return "own";
    }

    @Override
    public List<Segment> segments() {
      return List.of(new Cubed());
    }

    @Override
    public Objective objective() {
      return new SquaredError();
    }
  }

  @Test
  void aSegmentOfOnesOwnSaysWhatItIs() throws Exception {
    assertImagesAlike(new OwnModel(), new long[] {3});
    assertImagesAlike(new OwnModel(), new long[] {4, 3});
    try (var session = new OnnxSession(folder.resolve("model.onnx"))) {
      assertThat(session.outputs()).isEqualTo(Map.of("output", List.of(-1L, 4L, 2L)));
    }
  }

  static Stream<Arguments> mistakes() {
    return Stream.of(
        Arguments.of(
            new LeNet5(10),
            new long[] {1, 28, 28},
            "takes images of 1x32x32, but the data gives images of 1x28x28"),
        Arguments.of(
            new Mlp(12, List.of(8), 4),
            new long[] {11},
            "shape: fc1.weight takes 12 numbers per sample, but gets 11: the samples have another"
                + " shape than the model wants"),
        Arguments.of(
            new LeNet5(10),
            new long[] {},
            "shape: the shape of a sample is not known: state it, for example 3x224x224"));
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void samplesThatDoNotFitAreNamed(Model model, long[] shape, String message) {
    var export = ModelExport.of(hashedWeights(model), model);
    var shaped = shape.length == 0 ? export : export.withSampleShape(shape);
    assertThatThrownBy(() -> shaped.toOnnx(folder.resolve("model.onnx")))
        .isInstanceOf(ConfigException.class)
        .hasMessage(message);
    assertThat(folder.resolve("model.onnx")).doesNotExist();
  }
}
