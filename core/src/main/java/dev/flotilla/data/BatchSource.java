package dev.flotilla.data;

import java.util.OptionalLong;

/**
 * What a trainer iterates over: a data set, how many samples make a batch, and in which order they
 * come.
 *
 * <p>Immutable. Without {@link #shuffled} samples come in the order of the data set, in every
 * epoch. Where the data set counts tokens, so does the size of a batch: see {@link TokenBatches}.
 */
public final class BatchSource implements EpochSource {

  private final Dataset dataset;
  private final int batch;
  private final boolean perRank;
  private final Sampling sampling;
  private final boolean dropsLast;

  private BatchSource(
      Dataset dataset, int batch, boolean perRank, Sampling sampling, boolean dropsLast) {
    requirePositive(batch);
    if (dataset.size() < 1) {
      throw new IllegalArgumentException("a data set to train on must not be empty");
    }
    this.dataset = dataset;
    this.batch = batch;
    this.perRank = perRank;
    this.sampling = sampling;
    this.dropsLast = dropsLast;
  }

  /** Takes a fixed number of samples (or tokens) per step, divided over the ranks. */
  public static BatchSource global(Dataset dataset, int globalBatch) {
    return new BatchSource(dataset, globalBatch, false, new Sampling.InOrder(), false);
  }

  /**
   * Takes a fixed number of samples per step and rank: N ranks make a global batch of N times it.
   */
  public static BatchSource perRank(Dataset dataset, int batch) {
    return new BatchSource(dataset, batch, true, new Sampling.InOrder(), false);
  }

  /** Returns this source with a new order in every epoch, a function of seed and epoch alone. */
  public BatchSource shuffled(long seed) {
    return new BatchSource(dataset, batch, perRank, new Sampling.Shuffled(seed), dropsLast);
  }

  /**
   * Returns this source with samples drawn with replacement, as many in an epoch as there are: a
   * sample is drawn with its weight divided by the sum of all, so some come twice and some not at
   * all. Which are drawn is a function of seed and epoch alone.
   *
   * @param weights one for each sample, at least 0, which need not add up to 1
   */
  public BatchSource weighted(double[] weights, long seed) {
    return weighted(weights, dataset.size(), seed);
  }

  /**
   * Returns this source with samples drawn with replacement.
   *
   * @param draws how many samples an epoch has
   */
  public BatchSource weighted(double[] weights, int draws, long seed) {
    return sampled(Sampling.Weighted.of(dataset, weights, draws, seed));
  }

  /**
   * Returns this source with a new order in every epoch in which classes are spread evenly, so that
   * batches have each class in its proportion, as closely as whole samples allow.
   */
  public BatchSource stratified(long seed) {
    return sampled(new Sampling.Stratified(seed, dataset.labels()));
  }

  /**
   * Returns this source with samples of like length, by {@link Dataset#tokens}, in a batch, which
   * needs less padding; in every epoch others are together. The order depends on seed, epoch and
   * size of the batches over all ranks.
   */
  public BatchSource byLength(long seed) {
    return sampled(new Sampling.ByLength(seed));
  }

  private BatchSource sampled(Sampling chosen) {
    if (dataset.countsTokens()) {
      throw new IllegalArgumentException(
          "batches that count tokens cannot be %s: they come in order or shuffled"
              .formatted(chosen));
    }
    return new BatchSource(dataset, batch, perRank, chosen, dropsLast);
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
    return new BatchSource(dataset, batch, perRank, sampling, true);
  }

  /** Returns the data set. */
  public Dataset dataset() {
    return dataset;
  }

  @Override
  public int globalBatch(int ranks) {
    return perRank ? Math.multiplyExact(batch, ranks) : batch;
  }

  /** Returns the number of global batches of an epoch, with the ragged last one. */
  public long batchesPerEpoch(int ranks) {
    return dataset.countsTokens()
        ? tokenBatches(ranks).count()
        : batches(samples(ranks), globalBatch(ranks));
  }

  @Override
  public OptionalLong knownBatches(int ranks) {
    return OptionalLong.of(batchesPerEpoch(ranks));
  }

  @Override
  public OptionalLong knownSamples(int ranks) {
    return OptionalLong.of(samples(ranks));
  }

  private int samples(int ranks) {
    int batchOfAll = globalBatch(ranks);
    int all = sampling.count(dataset);
    if (dropsLast && all < batchOfAll) {
      throw new IllegalArgumentException(
          "no batch is full: %d samples over all ranks are wanted, and the data set has %d; make"
                  .formatted(batchOfAll, all)
              + " batches smaller, or leave out dropLast");
    }
    return dropsLast ? all - all % batchOfAll : all;
  }

  @Override
  public String order() {
    return "%d samples %s%s"
        .formatted(dataset.size(), sampling, dropsLast ? ", without a smaller last batch" : "");
  }

  @Override
  public boolean orderDependsOnBatch() {
    return dataset.countsTokens() || sampling.dependsOnBatch();
  }

  /**
   * Returns what one rank sees of an epoch. Shuffling takes time proportional to the size of the
   * data set: ask once per epoch.
   */
  @Override
  public RankShard epoch(long epoch, int rank, int ranks) {
    var draw = new OrderedShard.Draw(sampling.seed(), epoch);
    return new OrderedShard(dataset, draw, order(epoch, ranks), rank, ranks);
  }

  private EpochOrder order(long epoch, int ranks) {
    if (dataset.countsTokens()) {
      var batches = tokenBatches(ranks);
      return sampling instanceof Sampling.Shuffled(long seed)
          ? batches.shuffled(seed, epoch)
          : batches.inOrder();
    }
    int size = globalBatch(ranks);
    return EpochOrder.even(sampling.order(dataset, size, epoch), size)
        .first(Math.toIntExact(batchesPerEpoch(ranks)));
  }

  private TokenBatches tokenBatches(int ranks) {
    var seed =
        sampling instanceof Sampling.Shuffled(long own)
            ? OptionalLong.of(own)
            : OptionalLong.empty();
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
