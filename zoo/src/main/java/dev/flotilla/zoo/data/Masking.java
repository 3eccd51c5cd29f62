package dev.flotilla.zoo.data;

import java.util.Arrays;

/**
 * BERT's masking: of each hundred tokens that are no special ones, fifteen are to be guessed, of
 * which twelve are replaced by [MASK], one and a half by a random token, and the rest stay.
 *
 * <p>A sequence in which nothing was drawn gets one masked position, so that every sequence teaches
 * something.
 *
 * @param vocabSize random tokens are drawn from [0, vocabSize)
 * @param mask number of [MASK]
 * @param fraction the fraction of tokens to guess
 * @param special numbers of tokens that are never guessed, in order
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared; made and read in this package only.
record Masking(int vocabSize, int mask, double fraction, int[] special) {

  private static final double MASKED = 0.8;
  private static final double RANDOM = 0.9;

  static Masking of(Vocabulary vocabulary, double fraction) {
    var special =
        new int[] {
          vocabulary.require("[PAD]"), vocabulary.require("[CLS]"), vocabulary.require("[SEP]")
        };
    Arrays.sort(special);
    return new Masking(vocabulary.size(), vocabulary.require("[MASK]"), fraction, special);
  }

  /**
   * What is left to see of a sequence, and what is to be guessed where.
   *
   * @param tokens what the model sees
   * @param positions the positions to guess, ascending
   * @param hidden the true tokens at these positions
   */
  @SuppressWarnings("ArrayRecordComponent")
  record Masked(int[] tokens, int[] positions, int[] hidden) {}

  Masked apply(int[] tokens, SampleRandom random) {
    var seen = tokens.clone();
    var positions = new int[tokens.length];
    int count = 0;
    for (int i = 0; i < tokens.length; i++) {
      if (isPlain(tokens[i]) && random.unit() < fraction) {
        positions[count++] = i;
        seen[i] = replacement(tokens[i], random);
      }
    }
    if (count == 0) {
      count = maskOne(seen, positions, random);
    }
    var chosen = Arrays.copyOf(positions, count);
    return new Masked(seen, chosen, Arrays.stream(chosen).map(i -> tokens[i]).toArray());
  }

  private boolean isPlain(int token) {
    return Arrays.binarySearch(special, token) < 0;
  }

  private int replacement(int token, SampleRandom random) {
    double kind = random.unit();
    if (kind < MASKED) {
      return mask;
    }
    return kind < RANDOM ? random.below(vocabSize) : token;
  }

  /** Masks one plain token; a sequence of special ones alone has none. */
  private int maskOne(int[] seen, int[] positions, SampleRandom random) {
    int plain = (int) Arrays.stream(seen).filter(this::isPlain).count();
    if (plain == 0) {
      return 0;
    }
    int skip = random.below(plain);
    for (int i = 0; ; i++) {
      if (isPlain(seen[i]) && skip-- == 0) {
        positions[0] = i;
        seen[i] = mask;
        return 1;
      }
    }
  }
}
