package dev.flotilla.data;

import java.util.OptionalLong;

/** What a trainer iterates over, epoch by epoch: batches of a data set, or of a stream. */
public sealed interface EpochSource permits BatchSource, StreamSource {

  /** Returns the number of samples (or tokens) of a full batch over all ranks. */
  int globalBatch(int ranks);

  /** Returns the number of global batches of an epoch, where that is known before it is over. */
  OptionalLong knownBatches(int ranks);

  /** Returns the number of samples of an epoch, where that is known before it is over. */
  OptionalLong knownSamples(int ranks);

  /** Returns what one rank sees of an epoch. */
  RankShard epoch(long epoch, int rank, int ranks);

  /**
   * Returns what decides which samples an epoch has and in which order, in words: a run that goes
   * on in the middle of an epoch needs the same.
   */
  String order();

  /** Tells whether another size of batches makes another order. */
  boolean orderDependsOnBatch();
}
