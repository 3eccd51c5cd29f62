package dev.flotilla.zoo.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.data.Dataset;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.pickle.PickleWriter;
import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CifarTests {

  private static final int PIXELS = 3072;

  @TempDir Path folder;

  private static byte pixel(int image, int at) {
    return (byte) (image * 31 + at * 7);
  }

  private static byte[] pixels(int image) {
    var pixels = new byte[PIXELS];
    for (int i = 0; i < PIXELS; i++) {
      pixels[i] = pixel(image, i);
    }
    return pixels;
  }

  private static byte[] binary(int... labels) {
    var bytes = new byte[labels.length * (PIXELS + 1)];
    for (int i = 0; i < labels.length; i++) {
      bytes[i * (PIXELS + 1)] = (byte) labels[i];
      System.arraycopy(pixels(i), 0, bytes, i * (PIXELS + 1) + 1, PIXELS);
    }
    return bytes;
  }

  /** Writes what Python 2 wrote for the published files. */
  private static byte[] pickle(int... labels) {
    var all = new byte[labels.length * PIXELS];
    for (int i = 0; i < labels.length; i++) {
      System.arraycopy(pixels(i), 0, all, i * PIXELS, PIXELS);
    }
    var out = new PickleWriter().code('}').code('(');
    out.oldText("batch_label").oldText("training batch 1 of 5");
    out.oldText("labels").code(']').code('(');
    Arrays.stream(labels).forEach(out::whole);
    out.code('e').oldText("data");
    out.global("numpy.core.multiarray", "_reconstruct").global("numpy", "ndarray");
    out.whole(0).code(0x85).oldText("b").code(0x87).code('R');
    out.code('(').whole(1).whole(labels.length).whole(PIXELS).code(0x86);
    out.global("numpy", "dtype").oldText("u1").whole(0).whole(1).code(0x87).code('R');
    out.code('(').whole(3).oldText("|").code('N').code('N').code('N').whole(-1).whole(-1).whole(0);
    out.code('t').code('b').code(0x89).oldBytes(all).code('t').code('b');
    return out.code('u').end();
  }

  private Cifar10 write(byte[] training, byte[] test, String suffix) throws IOException {
    Files.write(folder.resolve("data_batch_1" + suffix), training);
    Files.write(folder.resolve("test_batch" + suffix), test);
    return new Cifar10(folder, true);
  }

  private static float[] image(Dataset data, int sample) {
    try (var _ = TensorScope.open()) {
      var batch = data.load(new int[] {sample});
      return NativeView.of(batch.inputs().getFirst()).toArray(ValueLayout.JAVA_FLOAT);
    }
  }

  private static float[] augmented(Dataset data, int sample, long seed, long epoch) {
    try (var _ = TensorScope.open()) {
      var batch = data.load(new int[] {sample}, seed, epoch);
      return NativeView.of(batch.inputs().getFirst()).toArray(ValueLayout.JAVA_FLOAT);
    }
  }

  @Test
  void readsTheBinaryFormat() throws IOException {
    var data = write(binary(3, 9, 0), binary(1), ".bin");
    data.check();
    assertThat(data.train().size()).isEqualTo(3);
    assertThat(data.test().size()).isEqualTo(1);
    float[] image = image(data.train(), 1);
    assertThat(image[0]).isEqualTo((float) (((pixel(1, 0) & 0xff) / 255.0 - 0.4914) / 0.2470));
    assertThat(image[2048 + 5])
        .isEqualTo((float) (((pixel(1, 2048 + 5) & 0xff) / 255.0 - 0.4465) / 0.2616));
    try (var _ = TensorScope.open()) {
      var batch = data.train().load(new int[] {2, 0, 1});
      assertThat(NativeView.of(batch.targets()).toArray(ValueLayout.JAVA_LONG))
          .containsExactly(0, 3, 9);
      assertThat(batch.inputs().getFirst().shape()).containsExactly(3, 3, 32, 32);
    }
  }

  @Test
  void readsTheFolderForPythonWithTheSameResult() throws IOException {
    var binary = write(binary(3, 9, 0), binary(1), ".bin");
    float[] expected = image(binary.train(), 2);
    Files.delete(folder.resolve("data_batch_1.bin"));
    var data = write(pickle(3, 9, 0), pickle(1), "");
    data.check();
    assertThat(image(data.train(), 2)).isEqualTo(expected);
    assertThat(data.train().size()).isEqualTo(3);
  }

  @Test
  void cropsAndMirrorsByNothingButSeedEpochAndSample() throws IOException {
    var data = write(binary(3, 9, 0), binary(1), ".bin");
    var train = data.train();
    assertThat(augmented(train, 1, 5, 2)).isEqualTo(augmented(data.train(), 1, 5, 2));
    assertThat(augmented(train, 1, 5, 2)).isNotEqualTo(augmented(train, 1, 5, 3));
    assertThat(augmented(train, 1, 5, 2)).isNotEqualTo(augmented(train, 1, 6, 2));
    assertThat(augmented(data.test(), 0, 5, 2)).isEqualTo(image(data.test(), 0));
    var plain = new Cifar10(folder, false).train();
    assertThat(augmented(plain, 1, 5, 2)).isEqualTo(image(plain, 1));
  }

  @Test
  void shiftsByAtMostFourPixelsIntoBlack() throws IOException {
    var train = write(binary(3), binary(1), ".bin").train();
    float[] image = image(train, 0);
    float black = (float) ((0 - 0.4914) / 0.2470);
    int mirrored = 0;
    for (int epoch = 0; epoch < 64; epoch++) {
      float[] seen = augmented(train, 0, 1, epoch);
      boolean found = false;
      for (int shift = 0; shift < 162 && !found; shift++) {
        boolean mirror = shift >= 81;
        found = isShifted(image, seen, shift % 81 % 9 - 4, shift % 81 / 9 - 4, mirror, black);
        mirrored += found && mirror ? 1 : 0;
      }
      assertThat(found).as("epoch " + epoch).isTrue();
    }
    assertThat(mirrored).isBetween(16, 48);
  }

  private static boolean isShifted(
      float[] image, float[] seen, int right, int down, boolean mirror, float black) {
    for (int y = 0; y < 32; y++) {
      for (int x = 0; x < 32; x++) {
        int column = (mirror ? 31 - x : x) + right;
        int row = y + down;
        boolean inside = row >= 0 && row < 32 && column >= 0 && column < 32;
        if (seen[y * 32 + x] != (inside ? image[row * 32 + column] : black)) {
          return false;
        }
      }
    }
    return true;
  }

  @Test
  void namesTheByteOfALabelOutOfRange() throws IOException {
    var data = write(binary(3, 10), binary(1), ".bin");
    assertThatThrownBy(data::check)
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("data_batch_1.bin, byte 3073: expected a label from 0 to 9")
        .hasMessageContaining("but found 10");
  }

  @Test
  void namesAFileThatIsCutOff() throws IOException {
    byte[] cut = Arrays.copyOf(binary(3, 1), 5000);
    var data = write(cut, binary(1), ".bin");
    assertThatThrownBy(data::check)
        .hasMessageContaining("multiple of 3073")
        .hasMessageContaining("5000");
    byte[] whole = pickle(3, 1);
    Files.delete(folder.resolve("data_batch_1.bin"));
    var python = write(Arrays.copyOf(whole, whole.length - 2000), pickle(1), "");
    assertThatThrownBy(python::check)
        .hasMessageContaining("data_batch_1, byte")
        .hasMessageContaining("states a length of 6144, but only");
  }

  @Test
  void namesAMissingFileInTheMiddle() throws IOException {
    var data = write(binary(3), binary(1), ".bin");
    Files.write(folder.resolve("data_batch_3.bin"), binary(2));
    assertThatThrownBy(data::check)
        .hasMessageContaining("data_batch_2.bin: is missing, though data_batch_3.bin is there");
  }

  @Test
  void refusesAPickleThatWouldRunCode() throws IOException {
    byte[] evil = new PickleWriter().global("os", "system").text("id").code(0x85).code('R').end();
    var data = write(evil, pickle(1), "");
    assertThatThrownBy(data::check)
        .hasMessageContaining("data_batch_1, byte 2: the pickle mentions os.system");
  }

  @Test
  void namesAnEmptyFolder() {
    assertThatThrownBy(new Cifar10(folder, true)::check)
        .hasMessageContaining("neither data_batch_1.bin nor data_batch_1");
  }
}
