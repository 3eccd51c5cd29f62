package dev.flotilla.data;

import java.util.BitSet;
import java.util.Optional;

/** Samples that are made of those of one other data set, one of each unless it says otherwise. */
interface DerivedDataset extends Dataset {

  /** Returns the other data set. */
  Dataset source();

  @Override
  default int size() {
    return source().size();
  }

  @Override
  default Optional<BitSet> damaged() {
    return source().damaged();
  }

  @Override
  default int loadingThreads() {
    return source().loadingThreads();
  }

  @Override
  default boolean changesByEpoch() {
    return source().changesByEpoch();
  }

  @Override
  default boolean countsTokens() {
    return source().countsTokens();
  }

  @Override
  default int tokens(int sample) {
    return source().tokens(sample);
  }
}
