package dev.flotilla.memory;

import dev.flotilla.settings.ByteSize;
import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * A file that is mapped into memory: the system writes out what does not fit, and reads it again
 * when it is used.
 *
 * <p>The file has no name from the moment it is opened, so none is left behind, whatever ends the
 * process. Its blocks are written before they are used: a disk that is full would otherwise kill
 * the process later.
 */
final class MappedBlocks implements BlockState.Source {

  private static final String KEY = "offload_folder";
  private static final Path USUAL = Path.of("/var/tmp");
  private static final int CHUNK = 1 << 20;

  private final Path folder;
  private final FileChannel file;
  private final Arena arena = Arena.ofShared();
  private long length;

  MappedBlocks(@Nullable Path given) {
    folder = given == null ? usual() : given;
    try {
      requireDisk();
      var path = Files.createTempFile(folder, "flotilla-", ".state");
      file = FileChannel.open(path, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE));
      Files.delete(path);
    } catch (IOException e) {
      throw failed("cannot be written", e);
    }
  }

  private static Path usual() {
    return Files.isWritable(USUAL) ? USUAL : Path.of(System.getProperty("java.io.tmpdir"));
  }

  private void requireDisk() throws IOException {
    if (!Files.isDirectory(folder)) {
      throw new ConfigException(KEY, "no such folder: " + folder.toAbsolutePath().normalize());
    }
    var type = Files.getFileStore(folder).type();
    if (Set.of("tmpfs", "ramfs").contains(type)) {
      throw new ConfigException(
          KEY,
          "%s is memory itself (%s), so nothing would be gained: name a folder on a disk"
              .formatted(folder.toAbsolutePath().normalize(), type));
    }
  }

  private ConfigException failed(String what, IOException cause) {
    var failure =
        new ConfigException(
            KEY,
            "%s %s: %s; name a folder on a disk with more room"
                .formatted(folder.toAbsolutePath().normalize(), what, cause.getMessage()));
    failure.initCause(cause);
    return failure;
  }

  @Override
  public Tensor block(long bytes) {
    try {
      write(bytes);
      var memory = file.map(MapMode.READ_WRITE, length, bytes, arena);
      length += bytes;
      try (var _ = TensorScope.open()) {
        var options = new TensorOptions(torch.ScalarType.Byte);
        var start = new BytePointer(memory.asByteBuffer());
        return TensorScope.keep(torch.from_blob(start, new long[] {bytes}, options));
      }
    } catch (IOException e) {
      throw failed(
          "has no room for %s more after %s"
              .formatted(ByteSize.atLeast(bytes), ByteSize.atLeast(Math.max(1, length))),
          e);
    }
  }

  private void write(long bytes) throws IOException {
    var zeros = ByteBuffer.allocateDirect(CHUNK);
    for (long at = length; at < length + bytes; at += CHUNK) {
      zeros.clear().limit((int) Math.min(CHUNK, length + bytes - at));
      while (zeros.hasRemaining()) {
        file.write(zeros, at + zeros.position());
      }
    }
  }

  @Override
  public void close() {
    arena.close();
    try {
      file.close();
    } catch (IOException e) {
      throw failed("cannot be closed", e);
    }
  }
}
