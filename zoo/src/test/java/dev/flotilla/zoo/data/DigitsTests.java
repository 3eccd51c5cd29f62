package dev.flotilla.zoo.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.data.Dataset;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.stream.IntStream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DigitsTests {

  @Test
  void holdsTenThousandAndTwoThousandDigits() {
    var digits = new Digits();
    digits.check();
    assertThat(digits.train().size()).isEqualTo(10_000);
    assertThat(digits.test().size()).isEqualTo(2_000);
    assertThat(labels(digits.train(), 10)).containsExactly(5, 1, 3, 6, 1, 3, 6, 7, 9, 9);
    assertThat(labels(digits.test(), 10)).containsExactly(7, 1, 0, 5, 9, 0, 3, 2, 1, 5);
  }

  @Test
  void holdsEveryDigitAboutEquallyOften() {
    var counts = new int[10];
    for (long label : labels(new Digits().train(), 10_000)) {
      counts[(int) label]++;
    }
    assertThat(counts).containsExactly(941, 1132, 1032, 1022, 958, 925, 997, 1026, 978, 989);
  }

  /** Sums of every sixth and every fifth image of MNIST, computed with another program. */
  @ParameterizedTest
  @CsvSource({
    "train-images-idx3-ubyte, 438ba099335a695db401b4cc1a9ebb5e26f3f6800536cda63de250fa022053bd",
    "train-labels-idx1-ubyte, cdc933926617e78fa735e9296757e93f869734837ddb53260df98126675ca7c4",
    "t10k-images-idx3-ubyte, 544b11e980491b35ea0a29d267be603798a522d267bd875eefdf185f2a90b4ed",
    "t10k-labels-idx1-ubyte, 00c8ee896b56b1f141feedeefecd0ec606a7715b411eb44be7e1b1decd17e3fd"
  })
  void holdsTheImagesOfMnist(String name, String sha256) throws Exception {
    try (var in = new GZIPInputStream(Digits.class.getResourceAsStream("digits/" + name + ".gz"))) {
      byte[] sum = MessageDigest.getInstance("SHA-256").digest(in.readAllBytes());
      assertThat(HexFormat.of().formatHex(sum)).isEqualTo(sha256);
    }
  }

  @Test
  void takesEverySixthAndEveryFifthImage(@TempDir Path folder) throws IOException {
    MnistFolder.writePacked(folder);
    var target = Files.createDirectory(folder.resolve("digits"));
    DigitsGenerator.generate(folder, target);
    var digits = new Mnist(target);
    digits.check();
    assertThat(labels(digits.train(), 5)).containsExactly(0, 6, 2, 8, 4);
    assertThat(labels(digits.test(), 2)).containsExactly(0, 5);
    assertThat(pixels(digits.train(), 1)).isEqualTo(pixels(Mnist.train(folder), 6));
    assertThat(pixels(digits.test(), 1)).isEqualTo(pixels(Mnist.test(folder), 5));
  }

  private static long[] labels(Dataset dataset, int count) {
    try (var _ = TensorScope.open()) {
      var batch = dataset.load(IntStream.range(0, count).toArray());
      return NativeView.of(batch.targets()).toArray(ValueLayout.JAVA_LONG);
    }
  }

  private static float[] pixels(Dataset dataset, int sample) {
    try (var _ = TensorScope.open()) {
      var images = dataset.load(new int[] {sample}).inputs().getFirst();
      return NativeView.of(images).toArray(ValueLayout.JAVA_FLOAT);
    }
  }
}
