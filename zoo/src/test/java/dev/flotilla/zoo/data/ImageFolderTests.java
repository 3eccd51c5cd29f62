package dev.flotilla.zoo.data;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.data.Dataset;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.settings.ConfigException;
import java.awt.image.BufferedImage;
import java.awt.image.DataBuffer;
import java.awt.image.Raster;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.function.IntBinaryOperator;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.stream.MemoryCacheImageInputStream;
import javax.imageio.stream.MemoryCacheImageOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ImageFolderTests {

  private static final double[] MEANS = {0.485, 0.456, 0.406};
  private static final double[] DEVIATIONS = {0.229, 0.224, 0.225};

  @TempDir Path folder;

  @BeforeEach
  void writeImages() throws IOException {
    write("train/cat/a.jpeg", 40, 30, (_, _) -> 0x804020);
    write("train/cat/b.JPG", 64, 48, (x, y) -> (x * 4) << 16 | (y * 5) << 8 | 0x40);
    write("train/dog/c.png", 30, 30, (x, _) -> x < 15 ? 0xff0000 : 0x0000ff);
    write("val/cat/d.jpeg", 20, 20, (_, _) -> 0xffffff);
    write("val/dog/e.png", 20, 10, (_, _) -> 0x000000);
  }

  private Path write(String name, int width, int height, IntBinaryOperator rgb) throws IOException {
    var image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
    for (int y = 0; y < height; y++) {
      for (int x = 0; x < width; x++) {
        image.setRGB(x, y, rgb.applyAsInt(x, y));
      }
    }
    var file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    assertThat(ImageIO.write(image, name.endsWith("png") ? "png" : "jpeg", file.toFile())).isTrue();
    return file;
  }

  private ImageFolder data() {
    return new ImageFolder(folder, 16, null, true, 1);
  }

  private static float[] image(Dataset data, int sample) {
    try (var _ = TensorScope.open()) {
      var batch = data.load(new int[] {sample});
      assertThat(batch.inputs().getFirst().shape()).containsExactly(1, 3, 16, 16);
      return NativeView.of(batch.inputs().getFirst()).toArray(ValueLayout.JAVA_FLOAT);
    }
  }

  private static float[] augmented(Dataset data, int sample, long seed, long epoch) {
    try (var _ = TensorScope.open()) {
      var batch = data.load(new int[] {sample}, seed, epoch);
      return NativeView.of(batch.inputs().getFirst()).toArray(ValueLayout.JAVA_FLOAT);
    }
  }

  private static double pixel(float[] image, int channel, int y, int x) {
    double value = image[channel * 256 + y * 16 + x];
    return (value * DEVIATIONS[channel] + MEANS[channel]) * 255;
  }

  @Test
  void numbersClassesByName() {
    data().check();
    var train = data().train();
    assertThat(train.size()).isEqualTo(3);
    try (var _ = TensorScope.open()) {
      var labels = train.load(new int[] {2, 0, 1}).targets();
      assertThat(NativeView.of(labels).toArray(ValueLayout.JAVA_LONG)).containsExactly(1, 0, 0);
    }
  }

  @Test
  void decodesAndNormalises() {
    float[] plain = image(data().train(), 0);
    for (int i : new int[] {0, 7, 15}) {
      assertThat(pixel(plain, 0, i, i)).isCloseTo(0x80, within(4.0));
      assertThat(pixel(plain, 1, i, i)).isCloseTo(0x40, within(4.0));
      assertThat(pixel(plain, 2, i, i)).isCloseTo(0x20, within(4.0));
    }
    float[] halves = image(data().train(), 2);
    assertThat(pixel(halves, 0, 8, 2)).isCloseTo(255, within(0.5));
    assertThat(pixel(halves, 2, 8, 2)).isCloseTo(0, within(0.5));
    assertThat(pixel(halves, 2, 8, 13)).isCloseTo(255, within(0.5));
  }

  @Test
  void keepsTheBrightnessOfGrey() throws IOException {
    var grey = new BufferedImage(20, 20, BufferedImage.TYPE_BYTE_GRAY);
    fill(grey, 100);
    var file = folder.resolve("train/cat/a.jpeg");
    assertThat(ImageIO.write(grey, "jpeg", file.toFile())).isTrue();
    float[] image = image(data().train(), 0);
    for (int channel = 0; channel < 3; channel++) {
      assertThat(pixel(image, channel, 8, 8)).isCloseTo(100, within(2.0));
    }
  }

  private static void fill(BufferedImage image, int value) {
    var samples = new int[image.getWidth() * image.getHeight()];
    Arrays.fill(samples, value);
    image.getRaster().setSamples(0, 0, image.getWidth(), image.getHeight(), 0, samples);
  }

  @Test
  void resizesWithoutAliasing() {
    var stripes = new Pixels(64, 64, new int[64 * 64]);
    for (int i = 0; i < stripes.rgb().length; i++) {
      stripes.rgb()[i] = i % 2 == 0 ? 0xffffff : 0;
    }
    var target = new float[3 * 16 * 16];
    var identity = new Normalizer(new double[] {0, 0, 0}, new double[] {1, 1, 1});
    new Crop(0, 0, 64, 64, false).write(stripes, 16, identity, target);
    for (float value : target) {
      assertThat(value).isCloseTo(0.5f, within(0.05f));
    }
  }

  @Test
  void drawsPiecesFromSeedEpochAndSampleAlone() {
    var train = data().train();
    assertThat(augmented(train, 1, 3, 4)).isEqualTo(augmented(data().train(), 1, 3, 4));
    assertThat(augmented(train, 1, 3, 4)).isNotEqualTo(augmented(train, 1, 3, 5));
    assertThat(augmented(data().test(), 0, 3, 4)).isEqualTo(image(data().test(), 0));
    var pixels = Pixels.read(folder.resolve("train/cat/b.JPG"));
    int mirrored = 0;
    for (int epoch = 0; epoch < 200; epoch++) {
      var crop = Crop.random(pixels, new SampleRandom(1, epoch, 0));
      double share = crop.width() * crop.height() / (64 * 48);
      assertThat(share).isBetween(0.07, 1.0);
      assertThat(crop.width() / crop.height()).isBetween(0.7, 1.43);
      assertThat(crop.left() + crop.width()).isLessThanOrEqualTo(64);
      assertThat(crop.top() + crop.height()).isLessThanOrEqualTo(48);
      mirrored += crop.mirrored() ? 1 : 0;
    }
    assertThat(mirrored).isBetween(70, 130);
  }

  @Test
  void namesATruncatedJpegAndTheByte() throws IOException {
    var file = folder.resolve("train/cat/b.JPG");
    byte[] whole = Files.readAllBytes(file);
    for (int length : new int[] {whole.length - 2, whole.length / 2, 300, 30}) {
      Files.write(file, Arrays.copyOf(whole, length));
      assertThatThrownBy(() -> image(data().train(), 1))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("b.JPG, byte " + length + ": the JPEG is cut off");
    }
  }

  /** Plain CMYK, and what Adobe's programs write: CMYK and YCCK. Values are Pillow's. */
  @ParameterizedTest
  @CsvSource({"-1, 25, 50, 75", "0, 25, 50, 75", "2, 142, 121, 160"})
  void readsFourInksAsPillowDoes(int adobeTransform, int red, int green, int blue)
      throws IOException {
    byte[] jpeg = withAdobeMarker(cmyk(24, 16), adobeTransform);
    Files.write(folder.resolve("train/cat/a.jpeg"), jpeg);
    data().check();
    float[] image = image(data().train(), 0);
    assertThat(pixel(image, 0, 8, 8)).isCloseTo(red, within(0.6));
    assertThat(pixel(image, 1, 8, 8)).isCloseTo(green, within(0.6));
    assertThat(pixel(image, 2, 8, 8)).isCloseTo(blue, within(0.6));
  }

  /** One of ImageNet's is. */
  @Test
  void aPngMayBeCalledJpeg() throws IOException {
    Files.move(folder.resolve("train/dog/c.png"), folder.resolve("train/dog/c.JPEG"), ATOMIC_MOVE);
    float[] halves = image(data().train(), 2);
    assertThat(pixel(halves, 0, 8, 2)).isCloseTo(255, within(0.5));
  }

  @Test
  void anotherOfItsClassStandsForADamagedImage() throws IOException {
    Files.write(folder.resolve("train/cat/b.JPG"), new byte[] {1, 2, 3});
    var skipping =
        new ImageFolder(folder, 16, null, true, ImageAugmentation.NONE, OnDamaged.SKIP, 1);
    var train = skipping.train();
    assertThat(train.size()).isEqualTo(3);
    assertThat(image(train, 1)).isEqualTo(image(train, 0));
    // Whoever meets it first: a piece is drawn for the sample, not for the file.
    assertThat(augmented(train, 1, 5, 2)).isEqualTo(augmented(skipping.train(), 1, 5, 2));
    assertThat(train.damaged().orElseThrow().stream()).containsExactly(1);
    assertThat(data().train().damaged()).isEmpty();
    Files.write(folder.resolve("train/dog/c.png"), new byte[0]);
    assertThatThrownBy(() -> image(train, 2))
        .hasMessageContaining("dog: no image of the class can be read");
  }

  /** Writes four bands as they are, which the decoder itself reads back as a raster alone. */
  private static byte[] cmyk(int width, int height) throws IOException {
    var raster = Raster.createInterleavedRaster(DataBuffer.TYPE_BYTE, width, height, 4, null);
    for (int band = 0; band < 4; band++) {
      var samples = new int[width * height];
      Arrays.fill(samples, 40 * (band + 1));
      raster.setSamples(0, 0, width, height, band, samples);
    }
    var bytes = new ByteArrayOutputStream();
    var writer = ofTheJdk(ImageIO.getImageWritersByFormatName("jpeg"));
    try (var out = new MemoryCacheImageOutputStream(bytes)) {
      writer.setOutput(out);
      writer.write(new IIOImage(raster, null, null));
    } finally {
      writer.dispose();
    }
    assertReadsAsFourBands(bytes.toByteArray());
    return bytes.toByteArray();
  }

  private static <T> T ofTheJdk(Iterator<T> all) {
    T one = all.next();
    return one.getClass().getModule().isNamed() ? one : ofTheJdk(all);
  }

  private static void assertReadsAsFourBands(byte[] jpeg) throws IOException {
    var reader = ofTheJdk(ImageIO.getImageReadersByFormatName("jpeg"));
    try (var in = new MemoryCacheImageInputStream(new ByteArrayInputStream(jpeg))) {
      reader.setInput(in);
      assertThat(reader.readRaster(0, null).getNumBands()).isEqualTo(4);
    } finally {
      reader.dispose();
    }
  }

  private static byte[] withAdobeMarker(byte[] jpeg, int transform) {
    if (transform < 0) {
      return jpeg;
    }
    byte[] marker = {
      (byte) 0xff, (byte) 0xee, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, (byte) transform
    };
    return ByteBuffer.allocate(jpeg.length + marker.length)
        .put(jpeg, 0, 2)
        .put(marker)
        .put(jpeg, 2, jpeg.length - 2)
        .array();
  }

  @Test
  void namesAFileThatIsNoImage() throws IOException {
    Files.writeString(folder.resolve("train/dog/c.png"), "hello");
    assertThatThrownBy(() -> image(data().train(), 2))
        .hasMessageContaining("c.png: cannot be decoded");
    Files.writeString(folder.resolve("train/dog/notes.txt"), "hello");
    assertThatThrownBy(data()::check).hasMessageContaining("notes.txt: is not a .jpeg");
  }

  @Test
  void namesAnEmptyClassFolder() throws IOException {
    Files.createDirectories(folder.resolve("train/emu"));
    assertThatThrownBy(data()::check).hasMessageContaining("emu: the class has no image");
  }

  @Test
  void namesClassesThatDiffer() throws IOException {
    write("val/emu/f.png", 9, 9, (_, _) -> 0);
    assertThatThrownBy(data()::check).hasMessageContaining("lacks [] and has [emu] in addition");
    assertThatThrownBy(new ImageFolder(folder.resolve("x"), 16, null, true, 1)::check)
        .hasMessageContaining("no such folder");
  }
}
