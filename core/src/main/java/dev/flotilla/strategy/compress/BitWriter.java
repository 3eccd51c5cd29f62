package dev.flotilla.strategy.compress;

import java.nio.ByteBuffer;

/** Writes numbers of few bits into 32-bit words, lowest bits first. */
final class BitWriter {

  private final ByteBuffer words;
  private int word;
  private long pending;
  private int bits;

  /** Starts at a word. */
  BitWriter(ByteBuffer words, int firstWord) {
    this.words = words;
    this.word = firstWord;
  }

  /** Writes the lowest bits of a value; at most 31 of them. */
  void put(int value, int width) {
    pending |= (value & ((1L << width) - 1)) << bits;
    bits += width;
    if (bits >= Integer.SIZE) {
      flushWord();
    }
  }

  /** Writes so many zeros and a one. */
  void putUnary(long zeros) {
    long left = zeros;
    while (left >= 30) {
      put(0, 30);
      left -= 30;
    }
    put(1 << left, (int) left + 1);
  }

  /** Writes what is left over; the writer is then of no further use. */
  void end() {
    if (bits > 0) {
      flushWord();
    }
  }

  private void flushWord() {
    words.putInt(Integer.BYTES * word++, (int) pending);
    pending >>>= Integer.SIZE;
    bits -= Integer.SIZE;
  }
}
