package dev.flotilla.train;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.OptionalLong;

/** Counts the damaged samples that any rank has met, each once. */
final class DamagedSamples {

  private DamagedSamples() {}

  /** Returns nothing where a damaged sample ends the run; all ranks call it together. */
  static OptionalLong in(Dataset data, Collective collective) {
    var own = data.damaged();
    if (own.isEmpty()) {
      return OptionalLong.empty();
    }
    if (collective.size() == 1) {
      return OptionalLong.of(own.get().cardinality());
    }
    double[] marks = new double[data.size()];
    own.get().stream().forEach(sample -> marks[sample] = 1);
    try (var _ = TensorScope.open()) {
      var all = Tensors.ofDoubles(marks);
      collective.allReduce(all, Reduction.MAX, Traffic.SCALAR).await();
      return OptionalLong.of((long) all.sum().item_double());
    }
  }

  static String text(long count) {
    return count == 1
        ? "1 sample is damaged; another stood for it"
        : "%d samples are damaged; others stood for them".formatted(count);
  }
}
