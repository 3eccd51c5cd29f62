package dev.flotilla.zoo.data;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

/**
 * Makes the embedded digits from a folder of MNIST's gzip files: every sixth training image and
 * every fifth test image, from the first on.
 *
 * <pre>{@code
 * java … dev.flotilla.zoo.data.DigitsGenerator MNIST_FOLDER \
 *     zoo/src/main/resources/dev/flotilla/zoo/data/digits
 * }</pre>
 */
final class DigitsGenerator {

  private DigitsGenerator() {}

  /** Takes the folder to read and the folder to write. */
  public static void main(String[] arguments) throws IOException {
    generate(Path.of(arguments[0]), Path.of(arguments[1]));
  }

  static void generate(Path mnist, Path target) throws IOException {
    thin(IdxKind.IMAGES, "train-images-idx3-ubyte.gz", 6, mnist, target);
    thin(IdxKind.LABELS, "train-labels-idx1-ubyte.gz", 6, mnist, target);
    thin(IdxKind.IMAGES, "t10k-images-idx3-ubyte.gz", 5, mnist, target);
    thin(IdxKind.LABELS, "t10k-labels-idx1-ubyte.gz", 5, mnist, target);
  }

  private static void thin(IdxKind kind, String name, int every, Path from, Path to)
      throws IOException {
    byte[] items = new IdxFile(kind, IdxSource.of(from.resolve(name))).items();
    int count = items.length / kind.itemBytes();
    try (var out = new BestGzip(Files.newOutputStream(to.resolve(name)))) {
      out.write(header(kind, Math.ceilDiv(count, every)));
      for (int i = 0; i < count; i += every) {
        out.write(items, i * kind.itemBytes(), kind.itemBytes());
      }
    }
  }

  static byte[] header(IdxKind kind, int count) {
    var header = ByteBuffer.allocate(kind.headerBytes()).putInt(kind.magic()).putInt(count);
    for (int size : kind.itemSizes()) {
      header.putInt(size);
    }
    return header.array();
  }

  /**
   * Packs as tightly as gzip can; its header holds no time, so that equal input gives equal files.
   */
  private static final class BestGzip extends GZIPOutputStream {
    BestGzip(OutputStream out) throws IOException {
      super(out);
      def.setLevel(Deflater.BEST_COMPRESSION);
    }
  }
}
