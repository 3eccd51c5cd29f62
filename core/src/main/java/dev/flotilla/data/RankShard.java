package dev.flotilla.data;

/**
 * What one rank sees of one epoch: its part of every global batch.
 *
 * <p>A global batch is a run of consecutive samples of the epoch's order, and the last one of an
 * epoch may be smaller. A rank takes a contiguous part of it. Every sample is thus seen once per
 * epoch, by one rank, and the global batches are the same whatever the number of ranks. Parts of
 * one batch differ by one sample at most; in a small last batch some may be empty.
 *
 * <p>Any batch can be asked for at any time, so that a {@link DataCursor} is all that a resumed run
 * needs; a stream passes over what lies before.
 */
public sealed interface RankShard permits OrderedShard, StreamedShard {

  /**
   * Returns the number of global batches of the epoch; the same on every rank.
   *
   * @throws IllegalStateException if a stream does not tell: ask {@link #has}
   */
  long batches();

  /** Tells whether the epoch has a global batch of this number; the same on every rank. */
  boolean has(long index);

  /** Tells whether a global batch is the last one of the epoch; the same on every rank. */
  default boolean isLast(long index) {
    return !has(index + 1);
  }

  /** Returns the number of samples of a global batch, over all ranks. */
  int globalSize(long index);

  /**
   * Returns this rank's sample numbers of a global batch; possibly none.
   *
   * @throws IllegalStateException if samples of a stream have none
   */
  int[] samples(long index);

  /**
   * Loads this rank's part of a global batch, on the caller's thread and into its scope. Where the
   * part is empty, so is the batch, and the data set is not asked.
   */
  Batch load(long index);

  /** Returns a loader of this epoch's batches, ahead of training. */
  BatchLoader loader();
}
