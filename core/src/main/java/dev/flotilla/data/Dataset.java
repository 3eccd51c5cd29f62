package dev.flotilla.data;

import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/** A fixed number of samples that can be loaded in any order. */
public interface Dataset {

  /**
   * Returns objects of a program as samples of classes.
   *
   * @param toFeatures gives the numbers that the model takes, as many for each object; called when
   *     a sample is loaded, on the loader's threads
   * @param label gives the number of the class, from 0
   */
  static <T> Dataset of(
      List<T> objects, Function<? super T, float[]> toFeatures, ToIntFunction<? super T> label) {
    return of(objects, toFeatures, label, Integer.MAX_VALUE);
  }

  /**
   * Returns objects of a program as samples of so many classes.
   *
   * @throws IllegalArgumentException if a label is not in [0, classes), with the number of the
   *     sample
   */
  static <T> Dataset of(
      List<T> objects,
      Function<? super T, float[]> toFeatures,
      ToIntFunction<? super T> label,
      int classes) {
    return of(objects, Encoding.<T>empty().input(toFeatures).label(label, classes));
  }

  /** Returns objects of a program as samples with numbers as targets, for regression. */
  static <T> Dataset ofTargets(
      List<T> objects,
      Function<? super T, float[]> toFeatures,
      Function<? super T, float[]> toTargets) {
    return of(objects, Encoding.<T>empty().input(toFeatures).target(toTargets));
  }

  /** Returns objects of a program as samples, with as many inputs and targets as they have. */
  static <T> Dataset of(List<T> objects, Encoding<T> encoding) {
    return new ListDataset<>(objects, encoding);
  }

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
   * Returns the samples that this rank has found damaged so far and that others stand for; nothing
   * where a damaged sample ends the run.
   */
  default Optional<BitSet> damaged() {
    return Optional.empty();
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

  /**
   * Tells whether training sees other numbers of a sample in each epoch, as it does where they are
   * augmented or masked.
   */
  default boolean changesByEpoch() {
    return false;
  }

  /**
   * Returns the class of each sample; where a data set does not say, all samples are loaded.
   *
   * @throws IllegalArgumentException if targets are not the numbers of classes
   */
  default int[] labels() {
    return Samples.labels(this);
  }

  /** Returns some samples of this data set, in this order. */
  default Dataset subset(int... samples) {
    return Samples.subset(this, samples);
  }

  /**
   * Divides the samples at random, each into one part. The order of each part is that of this data
   * set.
   *
   * @param seed decides which samples come into which part
   * @param fractions of the parts, which add up to 1
   */
  default List<Dataset> split(long seed, double... fractions) {
    int[] order = EpochOrder.shuffledNumbers(size(), seed, Samples.SPLIT);
    return Samples.split(this, order, fractions);
  }

  /** Divides the samples so that each part has its fraction of each class. */
  default List<Dataset> splitStratified(long seed, double... fractions) {
    int[] order = StratifiedOrder.of(labels(), seed, Samples.SPLIT);
    return Samples.split(this, order, fractions);
  }

  /**
   * Returns samples that are made of these, one by one, when they are loaded.
   *
   * @param change makes a batch of one sample from a batch of one sample; called on the loader's
   *     threads
   */
  default Dataset map(Function<Batch, Batch> change) {
    return new MappedDataset(this, change);
  }

  /**
   * Returns the samples of which something is true; all are loaded to find them.
   *
   * @param wanted asked for a batch of one sample
   * @throws IllegalArgumentException if it is true of none
   */
  default Dataset filter(Predicate<Batch> wanted) {
    return subset(Samples.matching(this, wanted));
  }

  /** Returns these samples and then those of others. */
  default Dataset concat(Dataset... others) {
    return new ConcatDataset(Stream.concat(Stream.of(this), Stream.of(others)).toList());
  }

  /**
   * Returns these samples, each of which is kept in memory once it was loaded.
   *
   * @throws IllegalArgumentException if training sees other numbers in each epoch
   */
  default Dataset cached() {
    return new CachedDataset(this);
  }

  /** Returns these samples as batches of the given size per rank, in the order of this data set. */
  default BatchSource batches(int perRank) {
    return BatchSource.perRank(this, perRank);
  }
}
