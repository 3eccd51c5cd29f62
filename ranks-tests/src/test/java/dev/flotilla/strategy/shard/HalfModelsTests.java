package dev.flotilla.strategy.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.data.Dataset;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.Classification;
import dev.flotilla.model.Model;
import dev.flotilla.optim.AdamW;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.data.SyntheticTokens;
import dev.flotilla.zoo.data.TextTask;
import dev.flotilla.zoo.model.BertTiny;
import dev.flotilla.zoo.model.Normalization;
import dev.flotilla.zoo.model.ResNet18;
import dev.flotilla.zoo.model.Stem;
import java.util.stream.Stream;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Models whose layers see parameters of 16 bits in different ways. */
class HalfModelsTests {

  private static Arguments resNet(Normalization normalization) {
    return Arguments.of(
        new ResNet18(4, Stem.CIFAR, normalization, 2, true, 8),
        new SyntheticImages(3, 16, 4, 16, 4).train());
  }

  /** LayerNorm, and embeddings, of which one is the output's too. */
  static Stream<Arguments> models() {
    return Stream.of(
        Arguments.of(
            new BertTiny(null, 2, 40, 16, 1, 2, 32, 16, 0, 0),
            new SyntheticTokens(40, 12, 16, 4, TextTask.PRETRAINING, 2).train()));
  }

  static Stream<Arguments> more() {
    return Stream.of(resNet(Normalization.BATCH), resNet(Normalization.GROUP));
  }

  private static Snapshot train(Model model, Dataset data, Sharding sharding) {
    return Ranks.of(2)
        .callWorlds(
            world -> {
              try (var trainer =
                  Trainer.on(world)
                      .model(model)
                      .optimizer(new AdamW(0.003))
                      .strategy(sharding, new MixedPrecision(Dtype.BF16))
                      .threads(1)
                      .build()) {
                var result = trainer.fit(data.batches(2).shuffled(1), 1);
                assertThat(result.loss()).isFinite();
                assertThat(trainer.evaluate(data).loss()).isFinite();
                return Snapshot.of(trainer);
              }
            })
        .getFirst();
  }

  @Tag("thorough")
  @ParameterizedTest
  @MethodSource("more")
  void stagesOfOthersGiveTheSameBits(Model model, Dataset data) {
    stagesGiveTheSameBits(model, data);
  }

  @ParameterizedTest
  @MethodSource("models")
  void stagesGiveTheSameBits(Model model, Dataset data) {
    var float32 = train(model, data, new Sharding(1));
    var halves =
        Stream.of(1, 2, 3)
            .map(stage -> new Sharding(stage).withParameters(Dtype.BF16))
            .map(sharding -> train(model, data, sharding))
            .toList();
    assertThat(halves).allMatch(halves.getFirst()::isSameAs);
    assertThat(halves.getFirst().isSameAs(float32)).isFalse();
  }

  /** A module of one's own, with a norm that has running statistics or without. */
  private static final class Layers extends Module {

    private final LinearImpl in = register_module("in", new LinearImpl(8, 16));
    private final LinearImpl out = register_module("out", new LinearImpl(16, 4));

    Layers(boolean isNormed) {
      if (isNormed) {
        register_buffer("running_mean", Tensors.zeros(torch.ScalarType.Float, 16));
      }
    }

    Model model() {
      return Model.of(this, (x, _) -> out.forward(in.forward(x).relu()), new Classification());
    }
  }

  private static TrainerBuilder trainer(World world, Layers module) {
    return Trainer.on(world)
        .model(module.model())
        .optimizer(new AdamW(0.01))
        .strategy(new Sharding(2).withParameters(Dtype.BF16), new MixedPrecision(Dtype.BF16))
        .threads(1);
  }

  @Test
  void aModuleOfOnesOwnLearns() {
    var points = new ColouredPoints(240, 8, 4);
    var losses =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var module = new Layers(false);
                      var trainer = trainer(world, module).build()) {
                    double before = trainer.evaluate(points).loss();
                    trainer.fit(points.batches(12).shuffled(1), 3);
                    return trainer.evaluate(points).loss() / before;
                  }
                });
    assertThat(losses).allMatch(ratio -> ratio < 0.7);
  }

  @Test
  void runningStatisticsOfAModuleAreRefusedWithTheReason() {
    NativeLibraries.load();
    try (var module = new Layers(true)) {
      assertThatThrownBy(() -> trainer(World.solo(), module).build())
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("running_mean is float32, but parameters have 16 bits")
          .hasMessageContaining("keep parameters in float32");
    }
  }
}
