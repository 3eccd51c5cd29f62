package dev.flotilla.data;

/**
 * A place in the training data: the next global batch to load. Together with the seed it is all
 * that the data side of a checkpoint holds.
 *
 * @param epoch number of the epoch, from 0
 * @param index number of the global batch within the epoch, from 0
 */
public record DataCursor(long epoch, long index) {

  /** Where training starts. */
  public static final DataCursor START = new DataCursor(0, 0);

  /** Checks that neither number is negative. */
  public DataCursor {
    if (epoch < 0 || index < 0) {
      throw new IllegalArgumentException(
          "epoch and index must not be negative, but were %d and %d".formatted(epoch, index));
    }
  }

  /** Returns the place after this one, given the number of global batches of an epoch. */
  public DataCursor next(long batchesPerEpoch) {
    return index + 1 < batchesPerEpoch
        ? new DataCursor(epoch, index + 1)
        : new DataCursor(epoch + 1, 0);
  }
}
