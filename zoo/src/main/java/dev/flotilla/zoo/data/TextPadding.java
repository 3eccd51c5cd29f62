package dev.flotilla.zoo.data;

import java.util.List;

/**
 * How sequences are made equally long.
 *
 * @param token number of [PAD]
 * @param length the length of every batch, or 0 for that of its longest sequence
 */
record TextPadding(int token, int length) {

  int lengthFor(List<TextSequence> sequences) {
    return Math.max(length, sequences.stream().mapToInt(TextSequence::length).max().orElseThrow());
  }
}
