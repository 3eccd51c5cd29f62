package dev.flotilla.checkpoint;

import java.util.BitSet;

/** Compares those blocks of a file with the manifest that are read, each of them once. */
final class BlocksRead {

  private final FileVerifier verifier;
  private final BitSet sound = new BitSet();

  BlocksRead(FileVerifier verifier) {
    this.verifier = verifier;
  }

  /**
   * Compares the blocks that hold some bytes.
   *
   * @throws CheckpointException that names file and place of the first difference
   */
  void verify(long begin, long end) {
    int to = Math.toIntExact(Math.ceilDiv(end, (long) FileNote.BLOCK));
    int from = sound.nextClearBit(Math.toIntExact(begin / FileNote.BLOCK));
    while (from < to) {
      int next = sound.nextSetBit(from);
      int until = next < 0 ? to : Math.min(next, to);
      verifier.verifyBlocks(from, until);
      sound.set(from, until);
      from = sound.nextClearBit(until);
    }
  }
}
