package dev.flotilla.zoo.data;

/**
 * A sequence of tokens as BERT takes it, special tokens included.
 *
 * @param tokens numbers of the tokens
 * @param types the sentence, 0 or 1, that each token belongs to
 * @param positions the position of each token
 * @param label the class of the sequence; in pre-training 0 where the second sentence follows the
 *     first, 1 where it is a random one, {@link #NO_LABEL} where there is none
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared; made and read in this package only.
record TextSequence(int[] tokens, int[] types, int[] positions, int label) {

  static final int NO_LABEL = -100;

  int length() {
    return tokens.length;
  }

  static int[] positions(int length) {
    var positions = new int[length];
    java.util.Arrays.setAll(positions, i -> i);
    return positions;
  }
}
