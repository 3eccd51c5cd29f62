package dev.flotilla.data;

import dev.flotilla.memory.TensorScope;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/** Samples that are made of those of another data set, one by one. */
final class MappedDataset implements DerivedDataset {

  private final Dataset source;
  private final Function<Batch, Batch> change;

  MappedDataset(Dataset source, Function<Batch, Batch> change) {
    this.source = source;
    this.change = change;
  }

  @Override
  public Dataset source() {
    return source;
  }

  @Override
  public Batch load(int[] samples) {
    return changed(source.load(samples), samples);
  }

  @Override
  public Batch load(int[] samples, long seed, long epoch) {
    return changed(source.load(samples, seed, epoch), samples);
  }

  private Batch changed(Batch batch, int[] samples) {
    List<StoredSample> changed = new ArrayList<>();
    try (var _ = TensorScope.open()) {
      var ones = batch.split(samples.length);
      for (int i = 0; i < samples.length; i++) {
        changed.add(changed(ones.get(i), samples[i]));
      }
    }
    return StoredSample.join(changed, samples);
  }

  private StoredSample changed(Batch one, int sample) {
    var result = ask("map", change, one, sample);
    if (result.samples() != 1) {
      throw new IllegalArgumentException(
          "map must make one sample of each, but made %d of sample %d"
              .formatted(result.samples(), sample));
    }
    return StoredSample.of(result).getFirst();
  }

  /** Calls a function of the user's own; says for which sample it failed. */
  static <V> V ask(String what, Function<Batch, V> own, Batch one, int sample) {
    try {
      return Objects.requireNonNull(own.apply(one), "it returned null");
    } catch (RuntimeException failure) {
      throw new IllegalArgumentException(
          "%s failed for sample %d: %s"
              .formatted(
                  what,
                  sample,
                  Objects.requireNonNullElse(failure.getMessage(), failure.toString())),
          failure);
    }
  }
}
