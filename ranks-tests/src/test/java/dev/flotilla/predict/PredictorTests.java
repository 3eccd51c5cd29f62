package dev.flotilla.predict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.checkpoint.CheckpointException;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Momentum;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.pass.ModelException;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.train.InitialWeights;
import dev.flotilla.train.LoopSettings;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.model.Mlp;
import dev.flotilla.zoo.model.Normalization;
import dev.flotilla.zoo.model.ResNet18;
import dev.flotilla.zoo.model.Stem;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A loaded model says what evaluation saw, from any thread and over any number of ranks. */
class PredictorTests {

  private static final int BATCH = 4;

  /** With BatchNorm, whose running statistics only evaluation uses. */
  private static final Model MODEL = new ResNet18(5, Stem.CIFAR, Normalization.BATCH, 32, false, 4);

  private static final Dataset DATA = new SyntheticImages(3, 16, 5, 16, 25).test();

  @TempDir static Path folder;
  private static Path weights;
  private static Evaluation evaluation;

  @BeforeAll
  static void train() {
    weights = folder.resolve("model.safetensors");
    var loop = LoopSettings.defaults().inBatchesOf(BATCH);
    try (var trainer =
        Trainer.on(World.solo())
            .model(MODEL)
            .optimizer(new Momentum(0.05, 0.9))
            .loop(loop)
            .device(DeviceChoice.CPU)
            .threads(1)
            .build()) {
      trainer.fit(new SyntheticImages(3, 16, 5, 16, 25).train().batches(8), 2);
      evaluation = trainer.evaluate(DATA);
      trainer.saveModel(weights);
    }
  }

  private static Predictor load() {
    return Predictor.load(weights, MODEL, DeviceChoice.CPU);
  }

  private static int[] samples(int from) {
    return IntStream.range(from, Math.min(DATA.size(), from + BATCH)).toArray();
  }

  @Test
  void outputsAreThoseOfEvaluationToTheBit() {
    double sum = 0;
    try (var predictor = load();
        var _ = TensorScope.open()) {
      torch.set_num_threads(1);
      for (int from = 0; from < DATA.size(); from += BATCH) {
        var batch = DATA.load(samples(from));
        sum += MODEL.objective().loss(predictor.predict(batch), batch).sum().item_double();
      }
    }
    assertThat(sum / DATA.size()).isEqualTo(evaluation.loss());
  }

  private static List<double[]> all(Predictor predictor) {
    List<double[]> outputs = new ArrayList<>();
    for (int from = 0; from < DATA.size(); from += BATCH) {
      try (var _ = TensorScope.open()) {
        var output = predictor.predict(DATA.load(samples(from)).inputs().getFirst());
        assertThat(output.requires_grad()).isFalse();
        var rows = output.to(torch.ScalarType.Double);
        outputs.add(NativeView.of(rows).toArray(ValueLayout.JAVA_DOUBLE));
      }
    }
    return outputs;
  }

  @Test
  void eightThreadsSayWhatOneSays() throws Exception {
    try (var predictor = load();
        var one = Executors.newSingleThreadExecutor();
        var eight = Executors.newFixedThreadPool(8)) {
      var alone = one.submit(() -> all(predictor)).get();
      Callable<List<double[]>> task = () -> all(predictor);
      for (var together :
          eight.invokeAll(List.of(task, task, task, task, task, task, task, task))) {
        var outputs = together.get();
        for (int i = 0; i < alone.size(); i++) {
          assertThat(outputs.get(i)).isEqualTo(alone.get(i));
        }
      }
    }
  }

  private static List<double[]> overRanks(World world) {
    List<double[]> rows = new ArrayList<>();
    try (var trainer =
        Trainer.on(world)
            .model(MODEL)
            .optimizer(new Momentum(0.05, 0.9))
            .device(DeviceChoice.CPU)
            .initialWeights(new InitialWeights(weights, true))
            .threads(1)
            .build()) {
      new RankPredictions(trainer.model(), trainer.collective(), DATA, BATCH)
          .run(List.of(), row -> rows.add(row.outputs()));
    }
    return rows;
  }

  /** 25 samples are seven batches of four: neither 2 nor 3 ranks get equally many. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void rankZeroHearsOfEachSampleOnceAndInOrder(int ranks) throws Exception {
    var alone = overRanks(World.solo());
    var several = Ranks.of(ranks).callWorlds(PredictorTests::overRanks);
    assertThat(several.getFirst()).hasSize(DATA.size());
    for (int i = 0; i < DATA.size(); i++) {
      assertThat(several.getFirst().get(i)).as("sample %d", i).isEqualTo(alone.get(i));
    }
    assertThat(several.subList(1, ranks)).allMatch(List::isEmpty);
  }

  @Test
  void javaNumbersArePredictedAsTensorsAre() {
    try (var predictor = load();
        var _ = TensorScope.open()) {
      var inputs = DATA.load(samples(0)).inputs().getFirst();
      var values = NativeView.of(inputs).toArray(ValueLayout.JAVA_FLOAT);
      var rows = new float[BATCH][];
      int width = values.length / BATCH;
      Arrays.setAll(rows, i -> Arrays.copyOfRange(values, i * width, (i + 1) * width));
      var output = predictor.predict(inputs).to(torch.ScalarType.Double);
      var expected = NativeView.of(output).toArray(ValueLayout.JAVA_DOUBLE);
      var predictions = predictor.predict(rows, 3, 16, 16);
      for (int i = 0; i < BATCH; i++) {
        var prediction = predictions.get(i);
        assertThat(prediction.outputs())
            .isEqualTo(Arrays.copyOfRange(expected, i * 5, (i + 1) * 5));
        assertThat(Arrays.stream(prediction.probabilities()).sum()).isCloseTo(1, within(1e-12));
        assertThat(prediction.probability())
            .isEqualTo(Arrays.stream(prediction.probabilities()).max().orElseThrow());
        assertThat(prediction.className()).isEqualTo("" + prediction.classIndex());
      }
      assertThat(predictor.predict(new float[0][])).isEmpty();
    }
  }

  @Test
  void whatDoesNotFitIsNamed() {
    try (var predictor = load()) {
      assertThatThrownBy(() -> predictor.predict(new float[2][10], 3, 16, 16))
          .hasMessage("sample 0 has 10 numbers, but shape 3x16x16 wants 768");
      assertThatThrownBy(() -> predictor.predict(new float[2][256], 1, 16, 16))
          .isInstanceOf(ModelException.class)
          .hasMessageContaining("cannot take input of shape 2x1x16x16");
      assertThatThrownBy(() -> predictor.predict())
          .hasMessage("a batch to predict must have a sample");
    }
    var closed = load();
    closed.close();
    closed.close();
    assertThatThrownBy(() -> closed.predict(new float[1][768], 3, 16, 16))
        .hasMessage("the predictor has been closed");
    assertThatThrownBy(() -> Predictor.load(weights, new Mlp(8, List.of(16), 4)))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("missing");
    assertThatThrownBy(() -> Predictor.load(folder.resolve("nowhere")))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("nowhere does not hold a run");
  }

  @Test
  void aRunsFolderKnowsModelShapeAndClasses() throws IOException {
    var out = DigitsRun.train(folder.resolve("digits"), "float32");
    try (var predictor = Predictor.load(out, DeviceChoice.CPU)) {
      var prediction = predictor.predict(new float[1][1024]).getFirst();
      assertThat(prediction.className()).matches("[0-9]");
      assertThat(prediction.probabilities()).hasSize(10);
      assertThat(prediction)
          .hasToString(prediction.className() + " " + (float) prediction.probability());
    }
    assertThat(out.resolve("summary.json")).content().contains("\"class_names\" : [ \"0\"");
    Files.delete(out.resolve("model.safetensors"));
    try (var fromCheckpoint = Predictor.load(out, DeviceChoice.CPU)) {
      assertThat(fromCheckpoint.predict(new float[1][1024])).hasSize(1);
    }
  }

  @Test
  void aModelOfNumbersHasNoClasses() {
    var numbers = Prediction.ofNumbers(new double[] {1, 2});
    assertThat(numbers).hasToString("[1.0, 2.0]");
    assertThatThrownBy(numbers::className).hasMessageContaining("ask for outputs()");
  }
}
