package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.data.RankShard;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.AdamW;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Cifar10;
import dev.flotilla.zoo.data.PlainText;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Models of their real size learn real data, on one thread.
 *
 * <p>The data is not part of the project: the property {@code flotilla.test.data} names a folder
 * with CIFAR-10 and with {@code text/shakespeare.txt} and {@code text/bert-base-uncased-vocab.txt}.
 * Without it the tests are aborted, not passed.
 */
@Tag("thorough")
final class SampleDataTests {

  private static final String PROPERTY = "flotilla.test.data";

  /** The first samples of a data set. */
  private record First(Dataset all, int size) implements Dataset {

    @Override
    public Batch load(int[] samples) {
      return all.load(samples);
    }
  }

  private static Path data(String name) {
    var folder = System.getProperty(PROPERTY);
    if (folder == null) {
      return abort("-D%s=FOLDER names no folder with %s".formatted(PROPERTY, name));
    }
    var path = Path.of(folder, name);
    return Files.exists(path) ? path : abort("there is no " + path);
  }

  @Test
  void resNet18LearnsImagesOfCifarByHeart() {
    var all = new Cifar10(data("cifar-10-batches-bin"), false).train();
    var images = new First(all, 512);
    try (var trainer =
        Trainer.on(World.solo())
            .model(ResNet18.forCifar(10))
            .optimizer(new AdamW(0.001))
            .threads(1)
            .build()) {
      double accuracy = 0;
      for (int epoch = 0; epoch < 30 && accuracy < 0.95; epoch++) {
        trainer.fit(images.batches(32).shuffled(1), 1);
        accuracy = trainer.evaluate(images).score().acc1();
      }
      assertThat(accuracy).isGreaterThanOrEqualTo(0.95);
    }
  }

  /** Only the masked-LM task, so that the loss is its loss alone. */
  @Test
  void bertTinyLearnsShakespeareWithinAMinute() {
    var text = data("text/shakespeare.txt");
    var vocabulary = data("text/bert-base-uncased-vocab.txt");
    var source = new PlainText(text, vocabulary, 128, true, false, true, false, 0.15, 0.02, false);
    var test = source.test();
    try (var trainer =
        Trainer.on(World.solo())
            .model(new BertTiny())
            .optimizer(new AdamW(0.002))
            .threads(1)
            .build()) {
      assertThat(trainer.evaluate(test).loss()).isCloseTo(10.3, within(0.2));
      var epoch = source.train().batches(16).shuffled(1).epoch(0, 0, 1);
      long start = System.nanoTime();
      assertThat(train(trainer, epoch, test)).isLessThan(6.8);
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMinutes(1));
    }
  }

  /** Trains until the loss is small enough or the data has ended. */
  private static double train(Trainer trainer, RankShard epoch, Dataset test) {
    double loss = Double.MAX_VALUE;
    try (var loader = epoch.loader()) {
      for (long i = 0; i < epoch.batches() && loss >= 6.8; i++) {
        try (var _ = TensorScope.open()) {
          trainer.step(loader.load(i));
        }
        loss = i % 50 == 49 ? trainer.evaluate(test).loss() : loss;
      }
    }
    return loss;
  }
}
