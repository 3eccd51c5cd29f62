package dev.flotilla.data;

import java.util.OptionalLong;

/**
 * What a trainer iterates over: a data set, how many samples make a batch, and in which order they
 * come.
 *
 * <p>Immutable. Without {@link #shuffled} samples come in the order of the data set, in every
 * epoch. Where the data set counts tokens, so does the size of a batch: see {@link TokenBatches}.
 */
public final class BatchSource {

  private final Dataset dataset;
  private final int batch;
  private final boolean perRank;
  private final OptionalLong seed;

  private BatchSource(Dataset dataset, int batch, boolean perRank, OptionalLong seed) {
    requirePositive(batch);
    if (dataset.size() < 1) {
      throw new IllegalArgumentException("a data set to train on must not be empty");
    }
    this.dataset = dataset;
    this.batch = batch;
    this.perRank = perRank;
    this.seed = seed;
  }

  /** Takes a fixed number of samples (or tokens) per step, divided over the ranks. */
  public static BatchSource global(Dataset dataset, int globalBatch) {
    return new BatchSource(dataset, globalBatch, false, OptionalLong.empty());
  }

  /**
   * Takes a fixed number of samples per step and rank: N ranks make a global batch of N times it.
   */
  public static BatchSource perRank(Dataset dataset, int batch) {
    return new BatchSource(dataset, batch, true, OptionalLong.empty());
  }

  /** Returns this source with a new order in every epoch, a function of seed and epoch alone. */
  public BatchSource shuffled(long newSeed) {
    return new BatchSource(dataset, batch, perRank, OptionalLong.of(newSeed));
  }

  /** Returns the data set. */
  public Dataset dataset() {
    return dataset;
  }

  /** Returns the number of samples (or tokens) of a full batch over all ranks. */
  public int globalBatch(int ranks) {
    return perRank ? Math.multiplyExact(batch, ranks) : batch;
  }

  /** Returns the number of global batches of an epoch, with the ragged last one. */
  public long batchesPerEpoch(int ranks) {
    return dataset.countsTokens()
        ? tokenBatches(ranks).count()
        : batches(dataset.size(), globalBatch(ranks));
  }

  /**
   * Returns what one rank sees of an epoch. Shuffling takes time proportional to the size of the
   * data set: ask once per epoch.
   */
  public RankShard epoch(long epoch, int rank, int ranks) {
    var draw = new RankShard.Draw(seed.orElse(0), epoch);
    return new RankShard(dataset, draw, order(epoch, ranks), rank, ranks);
  }

  private EpochOrder order(long epoch, int ranks) {
    if (dataset.countsTokens()) {
      var batches = tokenBatches(ranks);
      return seed.isPresent() ? batches.shuffled(seed.getAsLong(), epoch) : batches.inOrder();
    }
    int size = globalBatch(ranks);
    return seed.isPresent()
        ? EpochOrder.shuffled(dataset.size(), size, seed.getAsLong(), epoch)
        : EpochOrder.natural(dataset.size(), size);
  }

  private TokenBatches tokenBatches(int ranks) {
    return TokenBatches.of(dataset, globalBatch(ranks), seed);
  }

  static long batches(int samples, int batch) {
    return Math.ceilDiv(samples, batch);
  }

  static void requirePositive(int batch) {
    if (batch < 1) {
      throw new IllegalArgumentException("batch must be at least 1, but was " + batch);
    }
  }
}
