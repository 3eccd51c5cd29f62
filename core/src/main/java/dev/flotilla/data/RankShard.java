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
 * needs.
 */
public final class RankShard {

  /** The seed and the number of an epoch. */
  record Draw(long seed, long epoch) {}

  private final Dataset dataset;
  private final Draw draw;
  private final EpochOrder order;
  private final int rank;
  private final int ranks;

  RankShard(Dataset dataset, Draw draw, EpochOrder order, int rank, int ranks) {
    this.dataset = dataset;
    this.draw = draw;
    this.order = order;
    this.rank = rank;
    this.ranks = ranks;
  }

  /** Returns the number of global batches of the epoch; the same on every rank. */
  public long batches() {
    return order.batches();
  }

  /** Returns the number of samples of a global batch, over all ranks. */
  public int globalSize(long index) {
    return order.batchSize(batch(index));
  }

  /** Returns this rank's sample numbers of a global batch; possibly none. */
  public int[] samples(long index) {
    var part = Part.of(globalSize(index), rank, ranks);
    return order.samples(batch(index), part.from(), part.to());
  }

  /**
   * Loads this rank's part of a global batch, on the caller's thread and into its scope. Where the
   * part is empty, so is the batch, and the data set is not asked.
   */
  public Batch load(long index) {
    int[] samples = samples(index);
    return samples.length == 0 ? Batch.empty() : dataset.load(samples, draw.seed(), draw.epoch());
  }

  /** Returns a loader of this epoch's batches, ahead of training. */
  public BatchLoader loader() {
    return new BatchLoader(this::load, batches(), dataset.loadingThreads());
  }

  private int batch(long index) {
    if (index < 0 || index >= batches()) {
      throw new IndexOutOfBoundsException(
          "batch must be in [0, %d), but was %d".formatted(batches(), index));
    }
    return (int) index;
  }
}
