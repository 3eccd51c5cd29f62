package dev.flotilla.data;

import dev.flotilla.memory.TensorScope;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.stream.IntStream;

/** The samples of several data sets, one set after the other. */
final class ConcatDataset implements Dataset {

  private final List<Dataset> sets;

  /** The number of each set's first sample, and that after the last sample. */
  private final int[] starts;

  ConcatDataset(List<Dataset> sets) {
    this.sets = List.copyOf(sets);
    starts = new int[sets.size() + 1];
    for (int i = 0; i < sets.size(); i++) {
      starts[i + 1] = Math.addExact(starts[i], sets.get(i).size());
      if (sets.get(i).countsTokens() != sets.getFirst().countsTokens()) {
        throw new IllegalArgumentException(
            "data whose batches count tokens cannot be joined with data whose batches count"
                + " samples");
      }
    }
  }

  @Override
  public int size() {
    return starts[sets.size()];
  }

  private int setOf(int sample) {
    int found = Arrays.binarySearch(starts, sample);
    int set = found >= 0 ? found : -found - 2;
    while (starts[set + 1] == sample) { // Empty sets begin at the same number.
      set++;
    }
    return set;
  }

  @Override
  public Batch load(int[] samples) {
    return load(samples, Dataset::load);
  }

  @Override
  public Batch load(int[] samples, long seed, long epoch) {
    return load(samples, (set, own) -> set.load(own, seed, epoch));
  }

  private Batch load(int[] samples, BiFunction<Dataset, int[], Batch> loading) {
    var found = new StoredSample[samples.length];
    for (int i = 0; i < sets.size(); i++) {
      int set = i;
      int[] places =
          IntStream.range(0, samples.length).filter(k -> setOf(samples[k]) == set).toArray();
      if (places.length == samples.length) {
        return loading.apply(sets.get(set), inSet(samples, places, set));
      }
      if (places.length > 0) {
        try (var _ = TensorScope.open()) {
          var read = StoredSample.of(loading.apply(sets.get(set), inSet(samples, places, set)));
          IntStream.range(0, places.length).forEach(k -> found[places[k]] = read.get(k));
        }
      }
    }
    return StoredSample.join(List.of(found), samples);
  }

  private int[] inSet(int[] samples, int[] places, int set) {
    return Arrays.stream(places).map(place -> samples[place] - starts[set]).toArray();
  }

  @Override
  public int loadingThreads() {
    return sets.stream().mapToInt(Dataset::loadingThreads).min().orElse(1);
  }

  @Override
  public Optional<BitSet> damaged() {
    if (sets.stream().allMatch(set -> set.damaged().isEmpty())) {
      return Optional.empty();
    }
    var own = new BitSet(size());
    for (int i = 0; i < sets.size(); i++) {
      int start = starts[i];
      sets.get(i).damaged().ifPresent(it -> it.stream().forEach(k -> own.set(start + k)));
    }
    return Optional.of(own);
  }

  @Override
  public boolean changesByEpoch() {
    return sets.stream().anyMatch(Dataset::changesByEpoch);
  }

  @Override
  public boolean countsTokens() {
    return sets.getFirst().countsTokens();
  }

  @Override
  public int tokens(int sample) {
    int set = setOf(sample);
    return sets.get(set).tokens(sample - starts[set]);
  }

  @Override
  public int[] labels() {
    return sets.stream().flatMapToInt(set -> Arrays.stream(set.labels())).toArray();
  }
}
