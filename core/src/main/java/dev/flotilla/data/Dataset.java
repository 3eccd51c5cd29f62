package dev.flotilla.data;

/** A fixed number of samples that can be loaded in any order. */
public interface Dataset {

  /** Returns the number of samples. */
  int size();

  /**
   * Loads the given samples, in the given order, as one batch. The tensors are float32 (or int64
   * for indices and labels) on the CPU and belong to the caller's scope.
   *
   * @param samples sample numbers in [0, size); never empty
   */
  Batch load(int[] samples);

  /** Returns these samples as batches of the given size per rank, in the order of this data set. */
  default BatchSource batches(int perRank) {
    return BatchSource.perRank(this, perRank);
  }
}
