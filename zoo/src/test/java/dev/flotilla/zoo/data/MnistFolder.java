package dev.flotilla.zoo.data;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.zip.GZIPOutputStream;

/** Writes a small folder in the shape of MNIST: noise for pixels, and labels that count. */
final class MnistFolder {

  static final int TRAIN = 30;
  static final int TEST = 10;

  private MnistFolder() {}

  static void writePlain(Path folder) throws IOException {
    Files.createDirectories(folder);
    Files.write(folder.resolve("train-images-idx3-ubyte"), images(TRAIN));
    Files.write(folder.resolve("train-labels-idx1-ubyte"), labels(TRAIN));
    Files.write(folder.resolve("t10k-images-idx3-ubyte"), images(TEST));
    Files.write(folder.resolve("t10k-labels-idx1-ubyte"), labels(TEST));
  }

  static void writePacked(Path folder) throws IOException {
    Files.createDirectories(folder);
    Files.write(folder.resolve("train-images-idx3-ubyte.gz"), gzip(images(TRAIN)));
    Files.write(folder.resolve("train-labels-idx1-ubyte.gz"), gzip(labels(TRAIN)));
    Files.write(folder.resolve("t10k-images-idx3-ubyte.gz"), gzip(images(TEST)));
    Files.write(folder.resolve("t10k-labels-idx1-ubyte.gz"), gzip(labels(TEST)));
  }

  static byte[] images(int count) {
    var pixels = new byte[count * 784];
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(count);
    random.nextBytes(pixels);
    return file(IdxKind.IMAGES, count, pixels);
  }

  static byte[] labels(int count) {
    var labels = new byte[count];
    for (int i = 0; i < count; i++) {
      labels[i] = (byte) (i % 10);
    }
    return file(IdxKind.LABELS, count, labels);
  }

  private static byte[] file(IdxKind kind, int count, byte[] items) {
    return ByteBuffer.allocate(kind.headerBytes() + items.length)
        .put(DigitsGenerator.header(kind, count))
        .put(items)
        .array();
  }

  static byte[] gzip(byte[] content) {
    var packed = new ByteArrayOutputStream();
    try (var out = new GZIPOutputStream(packed)) {
      out.write(content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return packed.toByteArray();
  }
}
