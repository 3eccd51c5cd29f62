package dev.flotilla.data;

import dev.flotilla.settings.ConfigException;
import java.util.Arrays;
import java.util.OptionalLong;

/**
 * Batches that hold as many samples as fit into a number of tokens, padding included.
 *
 * <p>A sample is added while (n + 1) · longest ≤ tokens. The samples are put in order once,
 * shuffled by the seed alone, and cut into batches; an epoch shuffles whole batches. So every epoch
 * has the same number of batches, on which learning-rate schedules depend, and sees each sample
 * once.
 */
final class TokenBatches {

  /** The epoch whose order decides which samples are together. */
  private static final long COMPOSITION = -1;

  private final int[] order;
  private final int[] starts;

  private TokenBatches(int[] order, int[] starts) {
    this.order = order;
    this.starts = starts;
  }

  static TokenBatches of(Dataset dataset, int tokens, OptionalLong seed) {
    int size = dataset.size();
    int[] order =
        seed.isPresent()
            ? EpochOrder.shuffledNumbers(size, seed.getAsLong(), COMPOSITION)
            : java.util.stream.IntStream.range(0, size).toArray();
    var starts = new int[size + 1];
    int batches = 1;
    long longest = 0;
    for (int i = 0; i < size; i++) {
      int length = required(dataset, order[i], tokens);
      longest = Math.max(longest, length);
      int samples = i - starts[batches - 1];
      if ((samples + 1) * longest > tokens) {
        starts[batches++] = i;
        longest = length;
      }
    }
    starts[batches] = size;
    return new TokenBatches(order, Arrays.copyOf(starts, batches + 1));
  }

  private static int required(Dataset dataset, int sample, int tokens) {
    int length = dataset.tokens(sample);
    if (length > tokens) {
      throw new ConfigException(
          "batch",
          "must be at least %d tokens, the length of sample %d, but was %d"
              .formatted(length, sample, tokens));
    }
    return length;
  }

  int count() {
    return starts.length - 1;
  }

  EpochOrder inOrder() {
    return new EpochOrder(order, starts);
  }

  /** Returns the batches in the order of an epoch. */
  EpochOrder shuffled(long seed, long epoch) {
    var samples = new int[order.length];
    var newStarts = new int[starts.length];
    int at = 0;
    int next = 0;
    for (int batch : EpochOrder.shuffledNumbers(count(), seed, epoch)) {
      int length = starts[batch + 1] - starts[batch];
      System.arraycopy(order, starts[batch], samples, at, length);
      newStarts[next++] = at;
      at += length;
    }
    newStarts[next] = at;
    return new EpochOrder(samples, newStarts);
  }
}
