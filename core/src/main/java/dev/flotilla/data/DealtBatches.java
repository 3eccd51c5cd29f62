package dev.flotilla.data;

import java.util.stream.IntStream;

/**
 * The batches of a data set, in its order, dealt to ranks one by one: batch k is that of rank k mod
 * N. So which samples are together does not depend on the number of ranks.
 */
public final class DealtBatches {

  private final Dataset dataset;
  private final int batch;
  private final int rank;
  private final int ranks;

  private DealtBatches(Dataset dataset, int batch, int rank, int ranks) {
    this.dataset = dataset;
    this.batch = batch;
    this.rank = rank;
    this.ranks = ranks;
  }

  /**
   * Returns what one rank gets.
   *
   * @param batch number of samples that are loaded together
   */
  public static DealtBatches of(Dataset dataset, int batch, int rank, int ranks) {
    BatchSource.requirePositive(batch);
    return new DealtBatches(dataset, batch, rank, ranks);
  }

  /** Returns how often each rank is dealt a batch, or nothing in the last round. */
  public long rounds() {
    return Math.ceilDiv(BatchSource.batches(dataset.size(), batch), (long) ranks);
  }

  /** Returns how many samples a rank gets in a round. */
  public int size(long round, int ofRank) {
    return Math.clamp(dataset.size() - from(round, ofRank), 0, batch);
  }

  private long from(long round, int ofRank) {
    return (round * ranks + ofRank) * batch;
  }

  /** Returns a loader of this rank's batches, one for each round, ahead of their use. */
  public BatchLoader loader() {
    return new BatchLoader(this::load, round -> round < rounds(), dataset.loadingThreads());
  }

  private Batch load(long round) {
    int count = size(round, rank);
    int from = Math.toIntExact(Math.min(dataset.size(), from(round, rank)));
    return count == 0 ? Batch.empty() : dataset.load(IntStream.range(from, from + count).toArray());
  }
}
