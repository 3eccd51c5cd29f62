package dev.flotilla.strategy.recompute;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.data.Dataset;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Sgd;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.data.SyntheticTokens;
import dev.flotilla.zoo.data.TextTask;
import dev.flotilla.zoo.model.BertTiny;
import dev.flotilla.zoo.model.LeNet5;
import dev.flotilla.zoo.model.Mlp;
import dev.flotilla.zoo.model.Normalization;
import dev.flotilla.zoo.model.ResNet18;
import dev.flotilla.zoo.model.ResNet50;
import dev.flotilla.zoo.model.Stem;
import dev.flotilla.zoo.model.Vgg16;
import dev.flotilla.zoo.model.Vgg16Bn;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What is recomputed gives the same bits, whatever the model holds. */
class RecomputeTests {

  private static final int SAMPLES = 4;

  /** A model of the zoo at a size for tests, with data that it takes. */
  record Case(String name, Model model, Dataset data) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Case> zoo() {
    return Stream.of(
        new Case("lenet5", new LeNet5(10), images(1, 32)),
        new Case("mlp with dropout", new Mlp(784, List.of(32, 32), 10, 0.3), images(1, 28)),
        new Case(
            "resnet18",
            new ResNet18(10, Stem.CIFAR, Normalization.BATCH, 4, false, 8),
            images(3, 16)),
        new Case(
            "resnet18 with groups",
            new ResNet18(10, Stem.CIFAR, Normalization.GROUP, 4, false, 8),
            images(3, 16)),
        new Case(
            "resnet50",
            new ResNet50(10, Stem.IMAGENET, Normalization.BATCH, 4, false, 4),
            images(3, 32)),
        new Case("vgg16", new Vgg16(10, 0.5, 16, 4), images(3, 32)),
        new Case("vgg16_bn", new Vgg16Bn(10, 0.5, 16, 4), images(3, 32)),
        new Case("bert", new BertTiny(null, 1, 120, 32, 3, 4, 64, 24, 0.1, 0.1), tokens()));
  }

  private static Dataset images(int channels, int side) {
    return new SyntheticImages(channels, side, 10, 64, 8).train();
  }

  private static Dataset tokens() {
    return new SyntheticTokens(120, 24, 64, 8, TextTask.PRETRAINING, 2).train();
  }

  /** Trains three updates and returns weights and buffers. */
  private static Snapshot train(Case example, Strategy... techniques) {
    var builder =
        Trainer.on(World.solo())
            .model(example.model())
            .optimizer(new Sgd(0.05))
            .strategy(techniques)
            .threads(1);
    try (var trainer = builder.build()) {
      for (int step = 0; step < 6; step++) {
        try (var _ = TensorScope.open()) {
          int from = step * SAMPLES;
          trainer.step(example.data().load(IntStream.range(from, from + SAMPLES).toArray()));
        }
      }
      return Snapshot.of(trainer);
    }
  }

  @ParameterizedTest
  @MethodSource("zoo")
  void everySegmentRecomputedGivesTheSameBits(Case example) {
    assertSame(example, Recompute.every(1));
  }

  @ParameterizedTest
  @MethodSource("zoo")
  void stretchesOfSegmentsRecomputedGiveTheSameBits(Case example) {
    assertSame(example, Recompute.every(2));
  }

  @ParameterizedTest
  @MethodSource("zoo")
  void aFoundPlanGivesTheSameBits(Case example) {
    assertSame(example, Recompute.auto(leastBudget(example)));
  }

  @ParameterizedTest
  @MethodSource("zoo")
  void whatWaitedInAFileGivesTheSameBits(Case example) {
    assertSame(example, Recompute.every(1).offloaded());
  }

  private static void assertSame(Case example, Recompute recompute) {
    var merge = new GradientMerge(2);
    var plain = train(example, merge);
    var recomputed = train(example, merge, recompute);
    assertThat(recomputed.isSameAs(plain)).isTrue();
  }

  /** Returns a budget under which much must be recomputed. */
  private static long leastBudget(Case example) {
    try {
      train(example, Recompute.auto(1));
    } catch (RuntimeException e) {
      var words = e.getMessage().replaceFirst(".*need at least ([0-9]+)MiB.*", "$1");
      return Long.parseLong(words) << 20;
    }
    throw new AssertionError("a budget of one byte was enough");
  }
}
