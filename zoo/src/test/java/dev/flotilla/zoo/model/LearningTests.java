package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.data.Dataset;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.Model;
import dev.flotilla.optim.AdamW;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.data.SyntheticTokens;
import dev.flotilla.zoo.data.TextTask;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
final class LearningTests {

  private static final Dataset NOISE = new SyntheticImages(3, 32, 4, 32, 4).train();

  /** Convolutions in float64 take thirty times as long as in float32. */
  private static final Dataset SMALL_NOISE = new SyntheticImages(3, 16, 4, 16, 4).train();

  private static final Dataset TOKENS =
      new SyntheticTokens(40, 12, 24, 4, TextTask.PRETRAINING, 2).train();

  private static Model smallResNet(Normalization normalization) {
    return new ResNet18(4, Stem.CIFAR, normalization, 2, true, 8);
  }

  private static Model smallBert(double dropout) {
    return new BertTiny(null, 2, 40, 16, 1, 2, 32, 16, dropout, dropout);
  }

  @Test
  void resNetLearnsNoiseByHeart() {
    try (var trainer =
        Trainer.on(World.solo())
            .model(smallResNet(Normalization.BATCH))
            .optimizer(new AdamW(0.003))
            .threads(1)
            .build()) {
      trainer.fit(NOISE.batches(16).shuffled(1), 25);
      assertThat(trainer.evaluate(NOISE).score().acc1()).isGreaterThan(0.95);
    }
  }

  @Test
  void bertLearnsWhatItSeesOftenEnough() {
    var few = new SyntheticTokens(40, 12, 8, 4, TextTask.PRETRAINING, 2).train();
    try (var trainer =
        Trainer.on(World.solo())
            .model(new BertTiny(null, 2, 40, 32, 1, 2, 64, 16, 0, 0))
            .optimizer(new AdamW(0.01))
            .threads(1)
            .build()) {
      double before = trainer.evaluate(few).loss();
      trainer.fit(few.batches(8).shuffled(1), 200);
      assertThat(trainer.evaluate(few).loss()).isLessThan(0.6 * before);
    }
  }

  /** Both tasks of BERT are sums of terms with one count, so that merging changes nothing. */
  @Test
  void mergingGivesTheGradientOfTheLargeBatchForBothTasksOfBert() {
    assertSame(weights(smallBert(0), TOKENS, 24, 1), weights(smallBert(0), TOKENS, 5, 5));
  }

  @Test
  void groupNormMakesMergingExactForResNet() {
    assertSame(
        weights(smallResNet(Normalization.GROUP), SMALL_NOISE, 16, 1),
        weights(smallResNet(Normalization.GROUP), SMALL_NOISE, 4, 4));
  }

  /** Returns the weights after two epochs of one update each, in float64. */
  private static Map<String, double[]> weights(Model model, Dataset data, int batch, int k) {
    var builder =
        Trainer.on(World.solo())
            .model(model)
            .optimizer(new dev.flotilla.optim.Sgd(0.1))
            .precision(Precision.FLOAT64)
            .threads(1);
    if (k > 1) {
      builder.strategy(new GradientMerge(k));
    }
    try (var trainer = builder.build()) {
      trainer.fit(data.batches(batch).shuffled(1), 2);
      assertThat(trainer.updates()).isEqualTo(2);
      Map<String, double[]> weights = new TreeMap<>();
      trainer
          .model()
          .arena()
          .parameters()
          .forEach(
              (name, value) ->
                  weights.put(
                      name, NativeView.of(value.detach()).toArray(ValueLayout.JAVA_DOUBLE)));
      return weights;
    }
  }

  private static void assertSame(Map<String, double[]> one, Map<String, double[]> other) {
    assertThat(one.keySet()).isEqualTo(other.keySet());
    one.forEach(
        (name, values) ->
            assertThat(other.get(name)).as(name).containsExactly(values, within(1e-10)));
  }

  @Test
  void recomputationLeavesRunningStatisticsAloneAndGivesTheSameOutput() {
    try (var bound =
            new BoundModel(smallResNet(Normalization.BATCH), Precision.FLOAT32, 1, _ -> false);
        var _ = TensorScope.open()) {
      var batch = NOISE.load(new int[] {0, 1, 2});
      var first = ReferenceTests.run(bound, batch, ForwardMode.TRAIN).only();
      var statistics = bound.buffers().statistics().clone();
      var again = ReferenceTests.run(bound, batch, ForwardMode.RECOMPUTE).only();
      assertThat(again.equal(first)).isTrue();
      assertThat(bound.buffers().statistics().equal(statistics)).isTrue();
      assertThat(bound.buffer("bn1.num_batches_tracked").item_long()).isEqualTo(1);
    }
  }

  @Test
  void dropsOutInTrainingOnly() {
    try (var bound = new BoundModel(smallBert(0.5), Precision.FLOAT32, 1, _ -> false);
        var _ = TensorScope.open()) {
      var batch = TOKENS.load(new int[] {0, 1});
      var one = ReferenceTests.run(bound, batch, ForwardMode.EVALUATE).tensors().getFirst();
      var two = ReferenceTests.run(bound, batch, ForwardMode.EVALUATE).tensors().getFirst();
      var three = ReferenceTests.run(bound, batch, ForwardMode.TRAIN).tensors().getFirst();
      assertThat(one.equal(two)).isTrue();
      assertThat(one.equal(three)).isFalse();
    }
  }

  @Test
  void startsAsTheReferenceModelsDo() {
    try (var resnet =
            new BoundModel(smallResNet(Normalization.BATCH), Precision.FLOAT32, 3, _ -> false);
        var bert = new BoundModel(new BertTiny(), Precision.FLOAT32, 3, _ -> false);
        var _ = TensorScope.open()) {
      double fanOut = Math.sqrt(2.0 / (64 * 9));
      assertThat(deviation(resnet, "layer4.1.conv2.weight")).isCloseTo(fanOut, within(fanOut / 20));
      assertThat(deviation(resnet, "layer1.0.bn2.weight")).as("zero_init_residual").isZero();
      assertThat(resnet.parameter("layer1.0.bn1.weight").min().item_double()).isEqualTo(1);
      String words = "bert.embeddings.word_embeddings.weight";
      assertThat(deviation(bert, words)).isCloseTo(0.02, within(0.0005));
      assertThat(bert.parameter(words).select(0, 0).abs().sum().item_double()).isZero();
      assertThat(bert.parameter(words).select(0, 1).abs().sum().item_double()).isPositive();
      assertThat(deviation(bert, "cls.predictions.bias")).isZero();
    }
  }

  /** Returns the root of the mean square. */
  private static double deviation(BoundModel model, String name) {
    var values = model.parameter(name).detach();
    return Math.sqrt(values.square().mean().item_double());
  }
}
