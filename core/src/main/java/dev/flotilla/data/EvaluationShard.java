package dev.flotilla.data;

import java.util.Arrays;

/**
 * The contiguous part of a data set that one rank evaluates, in batches.
 *
 * <p>Over all ranks every sample is evaluated exactly once. The number of batches may differ by one
 * between ranks.
 */
public final class EvaluationShard {

  private final Dataset dataset;
  private final Part part;
  private final int batch;

  private final long rounds;

  private EvaluationShard(Dataset dataset, Part part, int batch, long rounds) {
    this.dataset = dataset;
    this.part = part;
    this.batch = batch;
    this.rounds = rounds;
  }

  /**
   * Returns the part of one rank.
   *
   * @param batch number of samples that are loaded together
   */
  public static EvaluationShard of(Dataset dataset, int batch, int rank, int ranks) {
    BatchSource.requirePositive(batch);
    return new EvaluationShard(
        dataset,
        Part.of(dataset.size(), rank, ranks),
        batch,
        BatchSource.batches(Math.ceilDiv(dataset.size(), ranks), batch));
  }

  /** Returns the number of this rank's samples. */
  public int size() {
    return part.size();
  }

  /** Returns the number of this rank's batches; 0 when it has no sample. */
  public long batches() {
    return BatchSource.batches(part.size(), batch);
  }

  /** Returns the largest number of batches that any rank has. */
  public long rounds() {
    return rounds;
  }

  /** Returns the sample numbers of a batch; never none. */
  public int[] samples(long index) {
    if (index < 0 || index >= batches()) {
      throw new IndexOutOfBoundsException(
          "batch must be in [0, %d), but was %d".formatted(batches(), index));
    }
    int from = Math.toIntExact(part.from() + index * batch);
    var samples = new int[Math.min(batch, part.to() - from)];
    Arrays.setAll(samples, i -> from + i);
    return samples;
  }

  /** Returns a loader of this rank's batches, ahead of evaluation. */
  public BatchLoader loader() {
    return new BatchLoader(
        index -> dataset.load(samples(index)),
        index -> index < batches(),
        dataset.loadingThreads());
  }
}
