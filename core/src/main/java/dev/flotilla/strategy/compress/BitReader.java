package dev.flotilla.strategy.compress;

import java.nio.ByteBuffer;

/** Reads what {@link BitWriter} has written. */
final class BitReader {

  private final ByteBuffer words;
  private final int end;
  private int word;
  private long pending;
  private int bits;

  /** Starts at a word and reads as if zeros followed the last one. */
  BitReader(ByteBuffer words, int firstWord, int endWord) {
    this.words = words;
    this.word = firstWord;
    this.end = endWord;
  }

  int get(int width) {
    fill();
    int value = (int) (pending & ((1L << width) - 1));
    drop(width);
    return value;
  }

  /** Returns the number of zeros before the next one, and passes over both. */
  long getUnary() {
    long zeros = 0;
    fill();
    while (pending == 0) {
      zeros += bits;
      bits = 0;
      if (word >= end) {
        throw new IllegalStateException("a packed message ends inside an index");
      }
      fill();
    }
    int last = Long.numberOfTrailingZeros(pending);
    drop(last + 1);
    return zeros + last;
  }

  private void fill() {
    if (bits <= Integer.SIZE - 1) {
      long next = word < end ? words.getInt(Integer.BYTES * word) : 0;
      word++;
      pending |= (next & 0xffffffffL) << bits;
      bits += Integer.SIZE;
    }
  }

  private void drop(int count) {
    pending >>>= count;
    bits -= count;
  }
}
