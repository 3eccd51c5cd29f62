package dev.flotilla.bench;

import dev.flotilla.optim.Momentum;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.ImageFolder;
import dev.flotilla.zoo.data.PlainText;
import dev.flotilla.zoo.model.ResNet18;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Random;
import javax.imageio.ImageIO;

/**
 * How quick data are: {@code DataSpeed images FOLDER} trains ResNet-18 on JPEG images that it makes
 * there, the step on one core and the loading on another, and says how long training waited; {@code
 * DataSpeed text FILE VOCABULARY} says how many tokens a second a text makes.
 */
public final class DataSpeed {

  private static final int IMAGES = 320;
  private static final int BATCH = 16;
  private static final int EPOCHS = 3;
  private static final int TOKENS = 128;
  private static final int ROUNDS = 7;

  private DataSpeed() {}

  /** Measures one of both. */
  public static void main(String[] args) throws IOException {
    if (args[0].equals("images")) {
      images(Path.of(args[1]));
    } else {
      text(Path.of(args[1]), Path.of(args[2]));
    }
  }

  private static void images(Path folder) throws IOException {
    make(folder);
    try (var trainer =
        Trainer.on(World.solo())
            .model(new ResNet18(2))
            .optimizer(new Momentum(0.01, 0.9))
            .threads(1)
            .build()) {
      var batches = ImageFolder.of(folder, 224).train().batches(BATCH).shuffled(42);
      var result = trainer.fit(batches, EPOCHS);
      System.out.printf(
          Locale.ROOT,
          "%d images of 500x375 in batches of %d: %.2f of %.2f s waiting for data, %.1f %%%n",
          EPOCHS * IMAGES,
          BATCH,
          result.dataWaitSeconds(),
          result.seconds(),
          100 * result.dataWaitSeconds() / result.seconds());
    }
  }

  /** Noise over a slope: photographs take about as many bytes. */
  private static void make(Path folder) throws IOException {
    var random = new Random(1);
    for (int i = 0; i < IMAGES + 2; i++) {
      var place = folder.resolve(i < IMAGES ? "train" : "val").resolve(i % 2 == 0 ? "even" : "odd");
      Files.createDirectories(place);
      var image = new BufferedImage(500, 375, BufferedImage.TYPE_INT_RGB);
      for (int y = 0; y < 375; y++) {
        for (int x = 0; x < 500; x++) {
          int grey = (x + y) / 5 + random.nextInt(48);
          image.setRGB(x, y, grey << 16 | grey << 8 | (255 - grey));
        }
      }
      ImageIO.write(image, "jpg", place.resolve(i + ".jpg").toFile());
    }
  }

  private static void text(Path file, Path vocabulary) {
    var source =
        new PlainText(file, vocabulary, TOKENS, true, false, true, false, 0.15, 0.1, false);
    for (int round = 0; round < ROUNDS; round++) {
      long start = System.nanoTime();
      var train = source.train();
      double seconds = (System.nanoTime() - start) / 1e9;
      // Nearly all sequences are full; two places are marks, and a tenth is left for the test.
      double tokens = train.size() / 0.9 * (TOKENS - 2);
      System.out.printf(
          Locale.ROOT, "%.0f tokens in %.2f s: %.0f a second%n", tokens, seconds, tokens / seconds);
    }
  }
}
