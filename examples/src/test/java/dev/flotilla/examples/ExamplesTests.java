package dev.flotilla.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.predict.Prediction;
import dev.flotilla.predict.Predictor;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.localsgd.LocalSgd;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.norm.PoolOver;
import dev.flotilla.strategy.norm.PooledBatchNorm;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.model.Mlp;
import dev.flotilla.zoo.model.Normalization;
import dev.flotilla.zoo.model.ResNet18;
import dev.flotilla.zoo.model.Stem;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs every example for an epoch or less; guessing would be right for one digit in ten. */
final class ExamplesTests {

  private static final Path RECIPE = Path.of("recipe.yaml");

  /** What several examples are compared with, trained once, when it is asked for. */
  private static final class Reference {
    static final double ACCURACY = Baseline.run(1);
  }

  @Test
  void baselineLearnsInOneEpoch() {
    assertThat(Reference.ACCURACY).isBetween(0.85, 0.999);
  }

  /** It prints the updates, of at most 20 epochs, and what the last evaluation gave. */
  @Test
  void aRunThatGetsNoBetterStopsEarly() {
    var values = printedBy(() -> EarlyStop.main(new String[0]));
    assertThat(Integer.parseInt(values.substring(0, values.indexOf(' ')))).isBetween(471, 3139);
    assertThat(valueOf("accuracy", values)).isBetween(0.85, 0.999);
    assertThat(valueOf("sure", values)).isBetween(valueOf("accuracy", values) - 0.1, 0.999);
  }

  private static String printedBy(Runnable program) {
    var printed = new ByteArrayOutputStream();
    var out = System.out;
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      program.run();
    } finally {
      System.setOut(out);
    }
    return printed.toString(StandardCharsets.UTF_8);
  }

  private static double valueOf(String name, String values) {
    var found = Pattern.compile(name + "=([0-9.]+)").matcher(values);
    assertThat(found.find()).isTrue();
    return Double.parseDouble(found.group(1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"EarlyStop", "FineTuned", "FromCsv", "OwnData", "Predicted"})
  void programsThatUseATrainedModelAreShort(String name) throws IOException {
    var file = Path.of("src/main/java/dev/flotilla/examples", name + ".java");
    assertThat(Files.readAllLines(file)).hasSizeLessThan(30);
  }

  /** Guessing the larger class would be right for 63 of 100; the first rows are malignant. */
  @Test
  void aCsvFileBecomesASavedModel(@TempDir Path folder) {
    String[] arguments = {"breast-cancer.csv", folder.toString()};
    var printed = printedBy(() -> FromCsv.main(arguments)).lines().toList();
    assertThat(printed).hasSize(4);
    var accuracy = printed.getFirst().replaceAll("[^0-9.]", "");
    assertThat(Double.parseDouble(accuracy)).isBetween(90.0, 100.0);
    assertThat(folder.resolve("preprocessing.json")).exists();
  }

  @Test
  void ownLoopDoesWhatFitDoes() {
    var result = OwnLoop.run(1);
    assertThat(result.losses()).singleElement().satisfies(loss -> assertThat(loss).isLessThan(1.0));
    assertThat(result.accuracy()).isEqualTo(Reference.ACCURACY);
  }

  @Test
  void aMergedParameterStaysForThreeIterationsAndMovesAtTheFourth() {
    assertThat(MergedSteps.run(8).stream().map(MergedSteps.Row::moved))
        .containsExactly(false, false, false, true, false, false, false, true);
  }

  @Test
  void aRunThatWasStoppedEqualsOneThatWasNot(@TempDir Path folder) {
    assertThat(StoppedAndResumed.resumedRun(folder)).isEqualTo(StoppedAndResumed.wholeRun());
  }

  @Test
  void recomputingChangesNoBit() {
    assertThat(Recomputed.run(new Recompute("conv1", "conv2"))).isEqualTo(Recomputed.run());
  }

  @Test
  void sixteenBitsLearnAsWell() {
    assertThat(HalfPrecision.run(1, new MixedPrecision(Dtype.BF16))).isBetween(0.85, 0.999);
  }

  @Test
  void bucketsLearnAsTheBaseline() {
    assertThat(Overlapped.run(1)).containsEntry("accuracy", Reference.ACCURACY);
  }

  @Test
  void compressionOnOneRankIsTheBaseline() {
    assertThat(Compressed.run(1)).containsEntry("accuracy", Reference.ACCURACY);
  }

  @Test
  void factorsOnOneRankAreTheBaseline() {
    assertThat(LowRank.run(1)).containsEntry("accuracy", Reference.ACCURACY);
  }

  @Test
  void slicesOnOneRankAreTheWhole() {
    double alone = Sharded.run(World.solo(), 1, new Sharding(1));
    assertThat(alone).isEqualTo(Sharded.run(World.solo(), 1)).isBetween(0.85, 0.999);
  }

  @Tag("thorough")
  @Test
  void parametersInBf16LearnAsFloat32Ones() {
    var halves = new Sharding(1).withParameters(Dtype.BF16);
    assertThat(Sharded.run(World.solo(), 1, halves, new MixedPrecision(Dtype.BF16)))
        .isCloseTo(Sharded.run(World.solo(), 1), within(0.02));
  }

  @Test
  void aWholeWindowIsTheLargeBatchForBatchNorm() {
    var pooled = new PooledBatchNorm(PoolOver.WHOLE_WINDOW);
    double large = WholeWindowNorm.run(16);
    assertThat(WholeWindowNorm.run(4, new GradientMerge(4), pooled))
        .isCloseTo(large, within(1e-10));
    assertThat(WholeWindowNorm.run(4, new GradientMerge(4))).isNotCloseTo(large, within(1e-4));
  }

  @Test
  void theAverageOfWeightsIsBetterThanTheLast() {
    var evaluation = AveragedWeights.run(80);
    assertThat(evaluation.value("ema/loss")).isLessThan(evaluation.value("loss"));
    assertThat(evaluation.value("ema/accuracy")).isBetween(0.5, 0.999);
  }

  @Test
  void localStepsOnOneRankAreTheBaseline() {
    var alone = LocalSteps.run(World.solo(), 1, new LocalSgd(8));
    assertThat(alone).isEqualTo(LocalSteps.run(World.solo(), 1));
    assertThat(alone.accuracy()).isBetween(0.85, 0.999);
  }

  private static List<BoostedResNet.Row> boosted(String plugin, IntPredicate isBoundary) {
    return BoostedResNet.run(
        World.solo(),
        BoostedResNet.plugin(plugin),
        new ResNet18(10, Stem.IMAGENET, Normalization.BATCH, 4, false, 8),
        new SyntheticImages(3, 32, 10, 256, 8),
        8,
        isBoundary);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "data_parallel",
        "data_parallel_bf16",
        "low_level_zero",
        "low_level_zero_2",
        "chunked"
      })
  void aBoostedParameterMovesAtTheBoundaryOnly(String plugin) {
    var rows = boosted(plugin, BoostedResNet::isBoundary);
    assertThat(rows.stream().map(BoostedResNet.Row::moved))
        .containsExactly(false, false, false, true, false, false, false, true);
    assertThat(BoostedResNet.mistake(rows)).isEmpty();
  }

  /** A loop that is first looked at after its first step looks right for five iterations. */
  @Test
  void aBoundaryAtEveryThirdIterationIsCaught() {
    var rows = boosted("data_parallel", i -> i % 3 == 0);
    assertThat(BoostedResNet.mistake(rows))
        .hasValue(
            "WRONG: the parameter has moved at iteration 0, but 4 micro-batches make an update");
    assertThat(BoostedResNet.mistake(rows.subList(1, 6))).isEmpty();
    assertThat(BoostedResNet.mistake(rows.subList(1, 8)))
        .hasValueSatisfying(text -> assertThat(text).contains("moved at iteration 6"));
  }

  @Test
  void anUnknownPluginIsToldWhichThereAre() {
    assertThatThrownBy(() -> BoostedResNet.plugin("gemini"))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(
            "must be one of chunked, data_parallel, data_parallel_bf16, low_level_zero,"
                + " low_level_zero_2, but was 'gemini'");
  }

  /** A third of the points lie under the parabola, so that guessing is right for two thirds. */
  @Test
  void ownDataIsLearntAndTheModelSaved(@TempDir Path folder) {
    var weights = folder.resolve("hits.safetensors");
    var printed = printedBy(() -> OwnData.main(new String[] {weights.toString()}));
    assertThat(Double.parseDouble(printed.substring("accuracy ".length(), printed.indexOf(" %"))))
        .isBetween(95.0, 100.0);
    try (var predictor = Predictor.load(weights, new Mlp(2, List.of(32), 2))) {
      var under = new float[][] {{0.9f, 0.1f}, {0.3f, 0.9f}, {0.8f, 0.4f}};
      assertThat(predictor.predict(under))
          .extracting(Prediction::className)
          .containsExactly("1", "0", "1");
    }
  }

  @Test
  void ownModuleLearnsInOneEpoch() {
    assertThat(OwnModule.run(1)).isBetween(0.85, 0.999);
  }

  @Test
  void ownRecipeLearnsAndLeavesItsRun(@TempDir Path folder) {
    var out = folder.resolve("run");
    var summary = OwnRecipe.run(RECIPE.toString(), "--max-steps", "100", "--out", out.toString());
    assertThat(summary.get("updates")).isEqualTo(100L);
    assertThat((Double) summary.get("accuracy")).isBetween(0.7, 0.999);
    assertThat(out.resolve("model.safetensors")).isRegularFile();
    assertThat(out.resolve("summary.json")).content().contains("\"hidden\"");
    assertThat(Predicted.run(out, folder.resolve("digits.onnx")).stream())
        .extracting(Prediction::className)
        .hasSize(10)
        .allMatch(name -> name.matches("[0-9]"));
    assertThat(folder.resolve("digits.onnx")).isRegularFile();
    var weights = out.resolve("model.safetensors").toString();
    var tuned = printedBy(() -> FineTuned.main(new String[] {weights}));
    double percent = Double.parseDouble(tuned.substring("accuracy ".length(), tuned.indexOf(" %")));
    assertThat(percent / 100).isBetween((Double) summary.get("accuracy"), 0.999);
  }

  @Test
  void ownRecipeNamesAMisspeltKey(@TempDir Path folder) {
    var out = folder.resolve("run").toString();
    assertThatThrownBy(
            () -> OwnRecipe.run(RECIPE.toString(), "--set", "optimizer.lt=0.1", "--out", out))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("did you mean 'lr'");
  }
}
