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
  private final boolean dropsLast;

  private BatchSource(
      Dataset dataset, int batch, boolean perRank, OptionalLong seed, boolean dropsLast) {
    requirePositive(batch);
    if (dataset.size() < 1) {
      throw new IllegalArgumentException("a data set to train on must not be empty");
    }
    this.dataset = dataset;
    this.batch = batch;
    this.perRank = perRank;
    this.seed = seed;
    this.dropsLast = dropsLast;
  }

  /** Takes a fixed number of samples (or tokens) per step, divided over the ranks. */
  public static BatchSource global(Dataset dataset, int globalBatch) {
    return new BatchSource(dataset, globalBatch, false, OptionalLong.empty(), false);
  }

  /**
   * Takes a fixed number of samples per step and rank: N ranks make a global batch of N times it.
   */
  public static BatchSource perRank(Dataset dataset, int batch) {
    return new BatchSource(dataset, batch, true, OptionalLong.empty(), false);
  }

  /** Returns this source with a new order in every epoch, a function of seed and epoch alone. */
  public BatchSource shuffled(long newSeed) {
    return new BatchSource(dataset, batch, perRank, OptionalLong.of(newSeed), dropsLast);
  }

  /**
   * Returns this source without the last batch of an epoch where that is smaller than the others.
   * Its samples are left out of that epoch; in a new order, others are in the next.
   *
   * @throws IllegalArgumentException if batches count tokens, and have no full size
   */
  public BatchSource dropLast() {
    if (dataset.countsTokens()) {
      throw new IllegalArgumentException(
          "batches that count tokens have no full size, so that none can be left out for being"
              + " smaller: leave out dropLast");
    }
    return new BatchSource(dataset, batch, perRank, seed, true);
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
        : batches(samples(ranks), globalBatch(ranks));
  }

  /** Returns how many samples an epoch sees. */
  private int samples(int ranks) {
    int batchOfAll = globalBatch(ranks);
    if (dropsLast && dataset.size() < batchOfAll) {
      throw new IllegalArgumentException(
          "no batch is full: %d samples over all ranks are wanted, and the data set has %d; make"
                  .formatted(batchOfAll, dataset.size())
              + " batches smaller, or leave out dropLast");
    }
    return dropsLast ? dataset.size() - dataset.size() % batchOfAll : dataset.size();
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
    var order =
        seed.isPresent()
            ? EpochOrder.shuffled(dataset.size(), size, seed.getAsLong(), epoch)
            : EpochOrder.natural(dataset.size(), size);
    return order.first(Math.toIntExact(batchesPerEpoch(ranks)));
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
