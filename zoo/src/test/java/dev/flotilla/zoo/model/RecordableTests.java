package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.model.CrossEntropy;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Momentum;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecordableTests {

  @Test
  void modelsWithoutRandomNumbersSaySo() {
    assertThat(List.of(new LeNet5(10), new Mlp(8, List.of(4), 2), ResNet18.forCifar(10)))
        .allMatch(Model::isRecordable);
  }

  @Test
  void modelsThatDrawOrCountDoNot() {
    assertThat(new Mlp(8, List.of(4), 2, 0.1).isRecordable()).isFalse();
    assertThat(new BertLarge().isRecordable()).isFalse();
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
