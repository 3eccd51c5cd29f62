package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Precision;
import dev.flotilla.optim.Sgd;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.ImageAugmentation;
import dev.flotilla.zoo.data.ImageFolder;
import dev.flotilla.zoo.data.OnDamaged;
import dev.flotilla.zoo.model.Mlp;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs over folders with damaged images finish, and are the same on any number of ranks. */
class DamagedImagesTests {

  @TempDir Path folder;

  @BeforeEach
  void writeImages() throws IOException {
    for (var name : List.of("train/cat", "train/dog", "val/cat", "val/dog")) {
      Files.createDirectories(folder.resolve(name));
      for (int i = 0; i < 6; i++) {
        var image = new BufferedImage(10, 10, BufferedImage.TYPE_INT_RGB);
        for (int at = 0; at < 100; at++) {
          image.setRGB(at % 10, at / 10, (name.hashCode() + 7919 * i) * (at + 31));
        }
        ImageIO.write(image, "png", folder.resolve(name).resolve(i + ".JPEG").toFile());
      }
    }
    Files.write(folder.resolve("train/cat/2.JPEG"), new byte[] {1, 2, 3});
    Files.write(folder.resolve("train/dog/5.JPEG"), new byte[0]);
  }

  /** Weights after three epochs, and what the summary says of damaged images. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record Result(double[] weights, Object damaged) {}

  private Result trained(World world, int perRank) {
    var mixed = new ImageAugmentation(0.4, 0.4, 0.4, 0.1, 0.25, 0.2, 1);
    var data = new ImageFolder(folder, 8, null, true, mixed, OnDamaged.SKIP, 1);
    try (var trainer =
        Trainer.on(world)
            .model(new Mlp(3 * 8 * 8, List.of(), 2))
            .optimizer(new Sgd(0.05))
            .precision(Precision.FLOAT64)
            .threads(1)
            .build()) {
      var result = trainer.fit(data.train().batches(perRank).shuffled(1), 3);
      assertThat(trainer.evaluate(data.test()).samples()).isEqualTo(12);
      var weights = trainer.model().parameter("fc1.weight").detach();
      return new Result(
          NativeView.of(weights).toArray(ValueLayout.JAVA_DOUBLE),
          Objects.requireNonNull(
              RunSummary.of(trainer, result, 1, Map.of()).get("damaged_samples")));
    }
  }

  @Test
  void ranksTrainOnTheSameMixedImagesAndCountDamagedOnesOnce() {
    var one = trained(World.solo(), 6);
    assertThat(one.damaged()).isEqualTo(2L);
    for (var rank : Ranks.of(3).callWorlds(world -> trained(world, 2))) {
      assertThat(rank.weights()).containsExactly(one.weights(), within(1e-12));
      assertThat(rank.damaged()).isEqualTo(2L);
    }
  }
}
