package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.CrossEntropy;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Momentum;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecordableTests {

  @Test
  void modelsWhosePassesRepeatSaySo() {
    assertThat(
            List.of(
                new LeNet5(10),
                new Mlp(8, List.of(4), 2, 0.1),
                ResNet18.forCifar(10),
                new BertLarge()))
        .allMatch(Model::isRecordable);
  }

  @Test
  void whatIsMaskedIsCountedInMainMemory() {
    var objective = new BertLarge().objective();
    assertThat(objective.countsTargets()).isTrue();
    try (var _ = TensorScope.open()) {
      var targets = Tensors.ofLongs(new long[] {0, 7, 8, 1, 9, -100}, 2, 3);
      assertThat(objective.count(new Batch(List.of(), targets, 2))).isEqualTo(3);
    }
  }

  @Test
  void anotherObjectiveMayCount() {
    var smoothed = new CrossEntropy(0.1, List.of(), null);
    assertThat(new LeNet5(10).trainedFor(smoothed).isRecordable()).isFalse();
  }

  @Test
  void summariesOfAProcessorDoNotSpeakOfIt() {
    try (var trainer =
        Trainer.on(World.solo())
            .model(new Mlp(8, List.of(4), 2))
            .optimizer(new Momentum(0.1, 0.9))
            .device(DeviceChoice.CPU)
            .build()) {
      assertThat(trainer.metrics()).doesNotContainKey("recorded");
    }
  }
}
