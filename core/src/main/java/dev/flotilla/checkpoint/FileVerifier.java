package dev.flotilla.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/**
 * Compares a file with what the manifest says of it, block by block.
 *
 * @param file where it lies
 * @param note what it should be
 */
record FileVerifier(Path file, FileNote note) {

  /**
   * Compares every byte.
   *
   * @throws CheckpointException that names file and place of the first difference
   */
  void verify() {
    inFile(channel -> verifyBlocks(channel, 0, blocks()));
  }

  /**
   * Compares the size and the header, which says everything but the tensors' elements.
   *
   * @throws CheckpointException that names file and place of the first difference
   */
  void verifyHeader() {
    inFile(channel -> verifyBlocks(channel, 0, headerBlocks(channel)));
  }

  /**
   * Compares what {@link #verifyHeader} leaves.
   *
   * @throws CheckpointException that names file and place of the first difference
   */
  void verifyData() {
    inFile(channel -> verifyBlocks(channel, headerBlocks(channel), blocks()));
  }

  private int blocks() {
    return note.crc32c().size();
  }

  /** The length of the header is its first eight bytes, which must be sound before it is used. */
  private int headerBlocks(FileChannel channel) throws IOException {
    if (blocks() == 0) {
      return 0;
    }
    verifyBlocks(channel, 0, 1);
    var start = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    channel.read(start, 0);
    long end = start.hasRemaining() ? 0 : Long.BYTES + start.getLong(0);
    return Math.clamp(Math.ceilDiv(end, (long) FileNote.BLOCK), 1, blocks());
  }

  private void inFile(Comparison comparison) {
    try (var channel = FileChannel.open(file, StandardOpenOption.READ)) {
      requireSize(channel.size());
      comparison.compare(channel);
    } catch (IOException e) {
      throw CheckpointException.of("cannot read", file, e);
    }
  }

  private void requireSize(long size) {
    if (size != note.bytes()) {
      throw new CheckpointException(
          "%s is damaged: it has %d bytes, but should have %d, so that byte %d is the first amiss"
              .formatted(file, size, note.bytes(), Math.min(size, note.bytes())));
    }
  }

  private void verifyBlocks(FileChannel channel, int from, int to) throws IOException {
    var buffer = ByteBuffer.allocateDirect(FileNote.BLOCK);
    var checksum = new CRC32C();
    for (int block = from; block < to; block++) {
      long begin = (long) block * FileNote.BLOCK;
      readBlock(channel, buffer, begin);
      long end = begin + buffer.remaining();
      checksum.reset();
      checksum.update(buffer);
      var found = BlockChecksums.text(checksum.getValue());
      if (!found.equals(note.crc32c().get(block))) {
        throw new CheckpointException(
            "%s is damaged somewhere in bytes [%d, %d): their CRC32C is %s, but should be %s"
                .formatted(file, begin, end, found, note.crc32c().get(block)));
      }
    }
  }

  private static void readBlock(FileChannel channel, ByteBuffer buffer, long begin)
      throws IOException {
    buffer.clear();
    while (buffer.hasRemaining() && channel.read(buffer, begin + buffer.position()) >= 0) {
      // A read may return less than asked for.
    }
    buffer.flip();
  }

  private interface Comparison {
    void compare(FileChannel channel) throws IOException;
  }
}
