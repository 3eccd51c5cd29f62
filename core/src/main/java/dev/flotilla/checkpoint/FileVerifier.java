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

  private static final int PIECE = 1 << 18;

  /**
   * Compares every byte.
   *
   * @throws CheckpointException that names file and place of the first difference
   */
  void verify() {
    inFile(blocks -> blocks.verify(0, count()));
  }

  /**
   * Compares the size and the header, which says everything but the tensors' elements.
   *
   * @throws CheckpointException that names file and place of the first difference
   */
  void verifyHeader() {
    inFile(blocks -> blocks.verify(0, blocks.ofHeader()));
  }

  /**
   * Compares what {@link #verifyHeader} leaves.
   *
   * @throws CheckpointException that names file and place of the first difference
   */
  void verifyData() {
    inFile(blocks -> blocks.verify(blocks.ofHeader(), count()));
  }

  /**
   * Compares some blocks.
   *
   * @throws CheckpointException that names file and place of the first difference
   */
  void verifyBlocks(int from, int to) {
    inFile(blocks -> blocks.verify(from, to));
  }

  private int count() {
    return note.crc32c().size();
  }

  private void inFile(Comparison comparison) {
    try (var channel = FileChannel.open(file, StandardOpenOption.READ)) {
      requireSize(channel.size());
      comparison.compare(new Blocks(channel));
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

  private interface Comparison {
    void compare(Blocks blocks) throws IOException;
  }

  /** The blocks of the open file, read a piece at a time, which stays in the cache. */
  private final class Blocks {

    private final FileChannel channel;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(PIECE);
    private final CRC32C checksum = new CRC32C();

    Blocks(FileChannel channel) {
      this.channel = channel;
    }

    /** The length of the header is its first eight bytes, which must be sound before it is used. */
    int ofHeader() throws IOException {
      if (count() == 0) {
        return 0;
      }
      verify(0, 1);
      read(0, Long.BYTES);
      buffer.order(ByteOrder.LITTLE_ENDIAN);
      long end = buffer.remaining() < Long.BYTES ? 0 : Long.BYTES + buffer.getLong(0);
      return Math.clamp(Math.ceilDiv(end, (long) FileNote.BLOCK), 1, count());
    }

    void verify(int from, int to) throws IOException {
      for (int block = from; block < to; block++) {
        long begin = (long) block * FileNote.BLOCK;
        long end = Math.min(begin + FileNote.BLOCK, note.bytes());
        var found = BlockChecksums.text(checksum(begin, end));
        if (!found.equals(note.crc32c().get(block))) {
          throw new CheckpointException(
              "%s is damaged somewhere in bytes [%d, %d): their CRC32C is %s, but should be %s"
                  .formatted(file, begin, end, found, note.crc32c().get(block)));
        }
      }
    }

    private long checksum(long begin, long end) throws IOException {
      checksum.reset();
      for (long piece = begin; piece < end; piece += PIECE) {
        read(piece, (int) Math.min(PIECE, end - piece));
        checksum.update(buffer);
      }
      return checksum.getValue();
    }

    private void read(long begin, int bytes) throws IOException {
      buffer.clear().limit(bytes);
      while (buffer.hasRemaining() && channel.read(buffer, begin + buffer.position()) >= 0) {
        // A read may return less than asked for.
      }
      buffer.flip();
    }
  }
}
