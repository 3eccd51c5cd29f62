package dev.flotilla.data;

/** What one rank sees of one epoch of a data set, in which any batch can be loaded at any time. */
final class OrderedShard implements RankShard {

  /** The seed and the number of an epoch. */
  record Draw(long seed, long epoch) {}

  private final Dataset dataset;
  private final Draw draw;
  private final EpochOrder order;
  private final int rank;
  private final int ranks;

  OrderedShard(Dataset dataset, Draw draw, EpochOrder order, int rank, int ranks) {
    this.dataset = dataset;
    this.draw = draw;
    this.order = order;
    this.rank = rank;
    this.ranks = ranks;
  }

  @Override
  public long batches() {
    return order.batches();
  }

  @Override
  public boolean has(long index) {
    return index < batches();
  }

  @Override
  public int globalSize(long index) {
    return order.batchSize(batch(index));
  }

  @Override
  public int[] samples(long index) {
    var part = Part.of(globalSize(index), rank, ranks);
    return order.samples(batch(index), part.from(), part.to());
  }

  @Override
  public Batch load(long index) {
    int[] samples = samples(index);
    return samples.length == 0 ? Batch.empty() : dataset.load(samples, draw.seed(), draw.epoch());
  }

  @Override
  public BatchLoader loader() {
    return new BatchLoader(this::load, this::has, dataset.loadingThreads());
  }

  private int batch(long index) {
    if (index < 0 || index >= batches()) {
      throw new IndexOutOfBoundsException(
          "batch must be in [0, %d), but was %d".formatted(batches(), index));
    }
    return (int) index;
  }
}
