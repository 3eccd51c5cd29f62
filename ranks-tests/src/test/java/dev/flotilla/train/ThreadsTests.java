package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Momentum;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.model.LeNet5;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The promise for several threads: as many of them give the same bits. */
class ThreadsTests {

  @AfterEach
  void goBackToOne() {
    torch.set_num_threads(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void theSameNumberOfThreadsGivesTheSameBits(int threads) {
    assertThat(trained(threads).isSameAs(trained(threads))).isTrue();
  }

  @Test
  void anotherNumberOfThreadsIsEqualToRounding() {
    assertThat(trained(2).relativeDistance(trained(1))).isLessThan(1e-4);
  }

  private static Snapshot trained(int threads) {
    var data = new SyntheticImages(1, 32, 10, 64, 1).train();
    try (var trainer =
            Trainer.on(World.solo())
                .model(new LeNet5(10))
                .optimizer(new Momentum(0.01, 0.9))
                .device(DeviceChoice.CPU)
                .threads(threads)
                .build();
        var _ = TensorScope.open()) {
      assertThat(torch.get_num_threads()).isEqualTo(threads);
      var batch = data.load(IntStream.range(0, 64).toArray());
      for (int i = 0; i < 10; i++) {
        trainer.step(batch);
      }
      return Snapshot.of(trainer);
    }
  }
}
