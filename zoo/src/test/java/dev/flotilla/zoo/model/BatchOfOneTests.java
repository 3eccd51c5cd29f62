package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Sgd;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import java.lang.foreign.ValueLayout;
import org.bytedeco.pytorch.Tensor;
import org.junit.jupiter.api.Test;

/** A ragged last batch of one sample, which the last stage sees as one value per channel. */
class BatchOfOneTests {

  @Test
  void oneValuePerChannelLeavesTheRunningStatisticsFinite() {
    var model = new ResNet18(2, Stem.IMAGENET, Normalization.BATCH, 1, false, 2);
    var builder = Trainer.on(World.solo()).model(model).optimizer(new Sgd(0.1)).threads(1);
    try (var trainer = builder.build();
        var _ = TensorScope.open()) {
      var data = new SyntheticImages(3, 8, 2, 4, 1).train();
      assertThat(trainer.step(data.load(new int[] {0})).updated()).isTrue();

      var variance = trainer.model().buffer("layer4.1.bn2.running_var");
      assertThat(first(variance)).isEqualTo(1);
      assertThat(first(trainer.model().buffer("bn1.running_var"))).isFinite().isNotEqualTo(1);
      assertThat(trainer.step(data.load(new int[] {0, 1, 2})).updated()).isTrue();
      assertThat(first(variance)).isFinite().isNotEqualTo(1);
    }
  }

  private static float first(Tensor tensor) {
    return NativeView.of(tensor).get(ValueLayout.JAVA_FLOAT, 0);
  }
}
