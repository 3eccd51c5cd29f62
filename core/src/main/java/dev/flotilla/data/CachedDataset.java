package dev.flotilla.data;

import dev.flotilla.memory.TensorScope;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** Samples that are kept in memory once they were loaded. */
final class CachedDataset implements DerivedDataset {

  private final Dataset source;
  private final AtomicReferenceArray<@Nullable StoredSample> kept;

  CachedDataset(Dataset source) {
    if (source.changesByEpoch()) {
      throw new IllegalArgumentException(
          "data that is augmented anew in each epoch cannot be cached: cache what is read, and"
              + " augment after it");
    }
    this.source = source;
    kept = new AtomicReferenceArray<>(source.size());
  }

  @Override
  public Dataset source() {
    return source;
  }

  @Override
  public Batch load(int[] samples) {
    read(Arrays.stream(samples).filter(sample -> kept.get(sample) == null).distinct().toArray());
    List<StoredSample> wanted = new ArrayList<>();
    for (int sample : samples) {
      wanted.add(Objects.requireNonNull(kept.get(sample)));
    }
    return StoredSample.join(wanted, samples);
  }

  private void read(int[] missing) {
    if (missing.length == 0) {
      return;
    }
    try (var _ = TensorScope.open()) {
      var read = StoredSample.of(source.load(missing));
      for (int i = 0; i < missing.length; i++) {
        kept.set(missing[i], read.get(i));
      }
    }
  }

  @Override
  public int[] labels() {
    return source.labels();
  }
}
