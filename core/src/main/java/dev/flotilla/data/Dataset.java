package dev.flotilla.data;

/** A fixed number of samples that can be loaded in any order. */
public interface Dataset {

  /** Returns the number of samples. */
  int size();

  /**
   * Loads the given samples, in the given order, as one batch, always the same for the same samples
   * and never augmented: this is what evaluation sees. The tensors are float32 (or int64 for
   * indices and labels) on the CPU and belong to the caller's scope.
   *
   * @param samples sample numbers in [0, size); never empty
   */
  Batch load(int[] samples);

  /**
   * Loads the given samples for training. Data that is augmented or masked draws from the seed, the
   * epoch and the number of the sample, and from nothing else; other data is the same in every
   * epoch.
   *
   * @param seed of the run's data order
   * @param epoch number of the epoch, from 0
   */
  default Batch load(int[] samples, long seed, long epoch) {
    return load(samples);
  }

  /**
   * Returns the number of threads that load batches ahead of training and evaluation, so that
   * {@code load} is called on other threads than that which trains, by as many at once; 0 where the
   * training thread itself must do it.
   */
  default int loadingThreads() {
    return 1;
  }

  /**
   * Tells whether the size of a batch is a number of tokens instead of samples; then {@link
   * #tokens} says how many a sample has.
   */
  default boolean countsTokens() {
    return false;
  }

  /** Returns the number of tokens of a sample, or a bound that it never exceeds. */
  default int tokens(int sample) {
    return 1;
  }

  /** Returns these samples as batches of the given size per rank, in the order of this data set. */
  default BatchSource batches(int perRank) {
    return BatchSource.perRank(this, perRank);
  }
}
