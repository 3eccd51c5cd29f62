package dev.flotilla.strategy.precision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.optim.Momentum;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.Trainer;
import dev.flotilla.wire.Dtype;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.model.LeNet5;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A run in bf16 leaves no trace in the process, also on a CPU without bf16 instructions, where
 * libtorch switches oneDNN off.
 */
class Float32AfterBf16Tests {

  private static final SyntheticImages IMAGES = new SyntheticImages(1, 32, 10, 128, 8);

  @BeforeEach
  void switchOn() {
    NativeLibraries.load();
    torch.globalContext().setUserEnabledMkldnn(true);
  }

  private static Snapshot train(int ranks, Strategy... techniques) {
    return Ranks.of(ranks)
        .callWorlds(
            world -> {
              try (var trainer =
                  Trainer.on(world)
                      .model(new LeNet5(10))
                      .optimizer(new Momentum(0.05, 0.9))
                      .strategy(techniques)
                      .device(DeviceChoice.CPU)
                      .threads(1)
                      .build()) {
                trainer.fit(IMAGES.train().batches(32), 1);
                return Snapshot.of(trainer);
              }
            })
        .getFirst();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void float32HasTheSameBitsBeforeAndAfter(int ranks) {
    var before = train(ranks);
    var half = train(ranks, new MixedPrecision(Dtype.BF16));
    assertThat(half.isSameAs(before)).isFalse();
    assertThat(torch.globalContext().userEnabledMkldnn()).isTrue();
    assertThat(train(ranks).isSameAs(before)).isTrue();
    assertThat(train(ranks, new MixedPrecision(Dtype.BF16)).isSameAs(half)).isTrue();
  }
}
