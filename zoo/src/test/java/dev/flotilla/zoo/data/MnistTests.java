package dev.flotilla.zoo.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MnistTests {

  @TempDir Path folder;

  @BeforeEach
  void write() throws IOException {
    MnistFolder.writePlain(folder);
  }

  @Test
  void readsPlainAndPackedFilesAlike() throws IOException {
    var packed = folder.resolve("packed");
    MnistFolder.writePacked(packed);
    requireSame(packed);
  }

  @Test
  void looksInTheFolderThatTorchvisionMakes() throws IOException {
    var root = folder.resolve("root");
    MnistFolder.writePacked(root.resolve("MNIST/raw"));
    requireSame(root);
  }

  /** Browsers unpack what they download, and people rename. */
  @Test
  void goesByTheContentAndNotByTheName() throws IOException {
    Files.move(
        folder.resolve("train-images-idx3-ubyte"), folder.resolve("train-images-idx3-ubyte.gz"));
    new Mnist(folder).check();
    assertThat(Mnist.train(folder).size()).isEqualTo(MnistFolder.TRAIN);
  }

  @Test
  void readsAGzipFileOfSeveralMembers() throws IOException {
    byte[] images = MnistFolder.images(MnistFolder.TRAIN);
    byte[] first = MnistFolder.gzip(Arrays.copyOf(images, 5000));
    byte[] second = MnistFolder.gzip(Arrays.copyOfRange(images, 5000, images.length));
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    Files.write(folder.resolve("train-images-idx3-ubyte"), both);
    new Mnist(folder).check();
    assertThat(Mnist.train(folder).size()).isEqualTo(MnistFolder.TRAIN);
  }

  @Test
  void saysThatTheFolderIsMissingOnce() {
    var missing = folder.resolve("nowhere");
    assertThatThrownBy(() -> new Mnist(missing).check())
        .isInstanceOf(ConfigException.class)
        .hasMessage(
            "data.path: no such folder: %s (name the folder that holds the MNIST files)"
                .formatted(missing));
  }

  @Test
  void namesEveryFileThatIsMissingOrWrongAtOnce() throws IOException {
    Files.delete(folder.resolve("train-images-idx3-ubyte"));
    Files.delete(folder.resolve("t10k-labels-idx1-ubyte"));
    Files.write(folder.resolve("train-labels-idx1-ubyte"), new byte[3]);
    assertThatThrownBy(() -> new Mnist(folder).check())
        .isInstanceOfSatisfying(
            ConfigException.class,
            e ->
                assertThat(e.problems())
                    .hasSize(3)
                    .allSatisfy(problem -> assertThat(problem.key()).isEqualTo("data.path"))
                    .extracting(Problem::message)
                    .satisfiesExactly(
                        m -> assertThat(m).startsWith("train-images-idx3-ubyte, plain or .gz, is"),
                        m -> assertThat(m).contains("train-labels-idx1-ubyte: expected 8 bytes"),
                        m -> assertThat(m).startsWith("t10k-labels-idx1-ubyte, plain or .gz, is")));
  }

  @Test
  void refusesLabelsThatDoNotMatchTheImages() throws IOException {
    var labels = folder.resolve("train-labels-idx1-ubyte");
    Files.write(labels, MnistFolder.labels(29));
    requireProblem(labels + ": expected 30 labels, one for each image, but found 29");
  }

  @Test
  void refusesALabelThatIsNoDigit() throws IOException {
    var file = folder.resolve("train-labels-idx1-ubyte");
    byte[] labels = MnistFolder.labels(30);
    labels[8 + 7] = (byte) 200;
    Files.write(file, labels);
    requireProblem(file + ": expected a label from 0 to 9 at byte 15, but found 200");
  }

  private void requireProblem(String message) {
    var mnist = new Mnist(folder);
    assertThatThrownBy(mnist::check).hasMessageContaining("data.path: " + message);
    assertThatThrownBy(mnist::train)
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("data.path: " + message);
  }

  private void requireSame(Path other) {
    new Mnist(other).check();
    assertThat(content(new Mnist(other))).isEqualTo(content(new Mnist(folder)));
  }

  private static float[] content(Mnist mnist) {
    try (var _ = TensorScope.open()) {
      assertThat(mnist.test().size()).isEqualTo(MnistFolder.TEST);
      var images = mnist.train().load(new int[] {29, 0, 11}).inputs().getFirst();
      return NativeView.of(images).toArray(ValueLayout.JAVA_FLOAT);
    }
  }
}
