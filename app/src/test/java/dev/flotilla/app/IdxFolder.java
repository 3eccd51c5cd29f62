package dev.flotilla.app;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.UnaryOperator;

/** A small folder in the shape of MNIST, sound until a test damages it. */
final class IdxFolder {

  private static final int IMAGES = 0x803;
  private static final int LABELS = 0x801;
  private static final int COUNT = 8;
  private static final int SIDE = 28;

  private final Path folder;

  private IdxFolder(Path folder) {
    this.folder = folder;
  }

  static IdxFolder write(Path folder) throws IOException {
    Files.createDirectories(folder);
    for (var part : new String[] {"train", "t10k"}) {
      Files.write(folder.resolve(part + "-images-idx3-ubyte"), images());
      Files.write(folder.resolve(part + "-labels-idx1-ubyte"), labels());
    }
    return new IdxFolder(folder);
  }

  private static byte[] images() {
    return ByteBuffer.allocate(16 + COUNT * SIDE * SIDE)
        .putInt(IMAGES)
        .putInt(COUNT)
        .putInt(SIDE)
        .putInt(SIDE)
        .array();
  }

  private static byte[] labels() {
    return ByteBuffer.allocate(8 + COUNT).putInt(LABELS).putInt(COUNT).array();
  }

  IdxFolder truncate(String file) {
    return change(file, content -> Arrays.copyOf(content, content.length - 100));
  }

  IdxFolder spoilMagic(String file) {
    return change(file, content -> ByteBuffer.wrap(content).putInt(0, 0xBAD).array());
  }

  private IdxFolder change(String file, UnaryOperator<byte[]> change) {
    var path = folder.resolve(file);
    try {
      Files.write(path, change.apply(Files.readAllBytes(path)));
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
