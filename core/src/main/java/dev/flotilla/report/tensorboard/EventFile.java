package dev.flotilla.report.tensorboard;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;

/**
 * A file of records as TensorFlow writes them: length, its checksum, content, its checksum.
 *
 * <p>TensorBoard reads the files of a folder in the order of their names, which begin with a time.
 */
final class EventFile implements AutoCloseable {

  private static final Pattern NAME =
      Pattern.compile("events\\.out\\.tfevents\\.([0-9]{1,18})\\..*");
  private static final int MASK = 0xa282ead8;

  private final FileChannel channel;

  private EventFile(FileChannel channel) {
    this.channel = channel;
  }

  /** Makes a new file that is read after all others of its folder. */
  static EventFile create(Path folder, long now) throws IOException {
    long time = Math.max(now, newest(folder) + 1);
    var name =
        "events.out.tfevents.%010d.flotilla.%d.0".formatted(time, ProcessHandle.current().pid());
    var options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    var owner = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    return new EventFile(FileChannel.open(folder.resolve(name), options, owner));
  }

  private static long newest(Path folder) throws IOException {
    try (var files = Files.list(folder)) {
      return files
          .map(file -> NAME.matcher(file.getFileName().toString()))
          .filter(java.util.regex.Matcher::matches)
          .mapToLong(matcher -> Long.parseLong(matcher.group(1)))
          .max()
          .orElse(-1);
    }
  }

  /** Appends a record; of one that does not fit on the disk nothing is left. */
  void append(Proto event) throws IOException {
    byte[] content = event.toBytes();
    var length = buffer(Long.BYTES).putLong(content.length).array();
    var record =
        buffer(content.length + 16)
            .put(length)
            .putInt(masked(length))
            .put(content)
            .putInt(masked(content))
            .flip();
    long before = channel.position();
    try {
      while (record.hasRemaining()) {
        channel.write(record);
      }
    } catch (IOException failure) {
      channel.truncate(before);
      throw failure;
    }
  }

  private static ByteBuffer buffer(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** A checksum of data that holds checksums would be weak, so they are turned and shifted. */
  private static int masked(byte[] data) {
    var checksum = new CRC32C();
    checksum.update(data);
    return Integer.rotateRight((int) checksum.getValue(), 15) + MASK;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
