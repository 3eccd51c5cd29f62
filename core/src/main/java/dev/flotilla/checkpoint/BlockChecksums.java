package dev.flotilla.checkpoint;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/** CRC32C of consecutive blocks of a stream of bytes. */
final class BlockChecksums {

  private final List<String> finished = new ArrayList<>();
  private final CRC32C block = new CRC32C();
  private int inBlock;

  void update(ByteBuffer bytes) {
    while (bytes.hasRemaining()) {
      int length = Math.min(bytes.remaining(), FileNote.BLOCK - inBlock);
      block.update(bytes.slice(bytes.position(), length));
      bytes.position(bytes.position() + length);
      inBlock += length;
      if (inBlock == FileNote.BLOCK) {
        endBlock();
      }
    }
  }

  private void endBlock() {
    finished.add(text(block.getValue()));
    block.reset();
    inBlock = 0;
  }

  /** Returns the checksums of all blocks, the last one possibly shorter. */
  List<String> finished() {
    if (inBlock > 0) {
      endBlock();
    }
    return List.copyOf(finished);
  }

  static String text(long checksum) {
    return "%08x".formatted(checksum);
  }
}
