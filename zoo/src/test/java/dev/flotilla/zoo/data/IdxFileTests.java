package dev.flotilla.zoo.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.settings.ConfigException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class IdxFileTests {

  private static final byte[] IMAGES = MnistFolder.images(3);
  private static final byte[] LABELS = MnistFolder.labels(3);
  private static final int LENGTH = 16 + 3 * 784;

  @Test
  void readsWhatIsSound() {
    for (UnaryOperator<byte[]> packing : packings()) {
      var file = images(packing.apply(IMAGES));
      assertThat(file.count()).isEqualTo(3);
      assertThat(file.items()).isEqualTo(Arrays.copyOfRange(IMAGES, 16, LENGTH));
      assertThat(labels(packing.apply(LABELS)).items()).containsExactly(0, 1, 2);
    }
  }

  @Test
  void refusesAWrongMagicNumber() {
    requireRefusal(
        with(0, 0x00000801),
        "expected 0x00000803 at byte 0, the magic number of images of 28 × 28 pixels, but found"
            + " 0x00000801");
    requireRefusal(with(0, 0x00000d03), "but found 0x00000d03");
    requireRefusal(with(0, 0x03080000), "but found 0x03080000");
    requireRefusal(with(0, 0x89504e47), "but found 0x89504e47");
    assertThatThrownBy(() -> labels(IMAGES).count())
        .hasMessageContaining("expected 0x00000801 at byte 0");
  }

  @Test
  void refusesSizesThatCannotBe() {
    requireRefusal(with(8, 27), "expected 0x0000001c at byte 8, the size, but found 0x0000001b");
    requireRefusal(with(12, 0), "expected 0x0000001c at byte 12, the size, but found 0x00000000");
    requireRefusal(with(4, -1), "byte 4 states -1 images");
    requireRefusal(
        with(4, Integer.MAX_VALUE),
        "byte 4 states 2147483647 images of 28 × 28 pixels, 1683627179264 bytes in all");
    requireRefusal(with(4, 5_478_275), "byte 4 states 5478275 images");
  }

  @Test
  void refusesAPlainFileThatIsCutOrLonger() {
    requirePlainRefusal(new byte[0], "expected 16 bytes, but found only 0");
    requirePlainRefusal(Arrays.copyOf(IMAGES, 15), "expected 16 bytes, but found only 15");
    requirePlainRefusal(
        Arrays.copyOf(IMAGES, LENGTH - 1),
        "byte 4 states 3 images of 28 × 28 pixels, 2368 bytes in all, but only 2367 bytes"
            + " fit");
    requirePlainRefusal(
        Arrays.copyOf(IMAGES, LENGTH + 1),
        "expected the end at byte 2368, after 3 images of 28 × 28 pixels, but found more");
  }

  @Test
  void refusesAPackedFileWhoseContentIsCutOrLonger() {
    requirePlainRefusal(
        MnistFolder.gzip(Arrays.copyOf(IMAGES, 15)), "expected 16 bytes, but found only 15");
    requirePlainRefusal(
        MnistFolder.gzip(Arrays.copyOf(IMAGES, LENGTH - 1)),
        "expected 2368 bytes, but found only 2367");
    requirePlainRefusal(
        MnistFolder.gzip(Arrays.copyOf(IMAGES, LENGTH + 1)), "expected the end at byte 2368");
  }

  @Test
  void refusesAPackedFileThatIsCutAnywhere() {
    byte[] packed = MnistFolder.gzip(IMAGES);
    for (int length = 0; length < packed.length; length++) {
      var cut = images(Arrays.copyOf(packed, length));
      assertThatThrownBy(cut::count).isInstanceOf(ConfigException.class);
      assertThatThrownBy(cut::items).isInstanceOf(ConfigException.class);
    }
    requirePlainRefusal(
        Arrays.copyOf(packed, packed.length / 2),
        "expected 2368 bytes, but unpacking them fails near");
  }

  /** What the header of a small file claims must neither be allocated nor unpacked. */
  @Test
  void refusesAGzipBomb() {
    byte[] zeros = Arrays.copyOf(with(4, 2), 50_000_000);
    byte[] packed = MnistFolder.gzip(zeros);
    assertThat(packed.length).isLessThan(100_000);
    requirePlainRefusal(packed, "expected the end at byte 1584");
    requirePlainRefusal(MnistFolder.gzip(with(4, 1_000_000)), "byte 4 states 1000000 images");
  }

  @Test
  void neverReadsDamagedPackedDataAsSound() {
    byte[] packed = MnistFolder.gzip(IMAGES);
    for (int i = 0; i < 3000; i++) {
      var random = new SplittableRandom(i);
      byte[] damaged = packed.clone();
      damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
      requireRefusedOrEqual(damaged);
    }
  }

  @Test
  void namesTheFileAndTheWayOut() {
    assertThatThrownBy(() -> images(new byte[3]).count())
        .hasMessage(
            "data.path: images.idx: expected 16 bytes, but found only 3"
                + " (copy or download the file again)");
  }

  @Test
  void anEmptySetIsNotTakenForADamagedFile() {
    assertThatThrownBy(() -> images(with(4, 0)).count())
        .hasMessage(
            "data.path: images.idx: holds no images of 28 × 28 pixels"
                + " (name data with at least one sample)");
  }

  /** A bit of gzip's own header, such as its time, may change without harm. */
  private static void requireRefusedOrEqual(byte[] damaged) {
    try {
      assertThat(images(damaged).items()).isEqualTo(Arrays.copyOfRange(IMAGES, 16, LENGTH));
    } catch (ConfigException e) {
      assertThat(e.problems()).hasSize(1);
    }
  }

  private static void requireRefusal(byte[] content, String message) {
    for (UnaryOperator<byte[]> packing : packings()) {
      requirePlainRefusal(packing.apply(content), message);
    }
  }

  private static void requirePlainRefusal(byte[] content, String message) {
    assertThatThrownBy(() -> images(content).count())
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("images.idx: ")
        .hasMessageContaining(message);
    assertThatThrownBy(() -> images(content).items()).hasMessageContaining(message);
  }

  private static Iterable<UnaryOperator<byte[]>> packings() {
    return List.of(UnaryOperator.identity(), MnistFolder::gzip);
  }

  private static byte[] with(int offset, int value) {
    byte[] changed = IMAGES.clone();
    ByteBuffer.wrap(changed).putInt(offset, value);
    return changed;
  }

  private static IdxFile images(byte[] content) {
    return new IdxFile(IdxKind.IMAGES, IdxSource.of("images.idx", content));
  }

  private static IdxFile labels(byte[] content) {
    return new IdxFile(IdxKind.LABELS, IdxSource.of("labels.idx", content));
  }
}
