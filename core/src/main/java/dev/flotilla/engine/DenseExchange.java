package dev.flotilla.engine;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Totals;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import java.util.ArrayList;
import java.util.List;

/**
 * The default exchange: an all-reduce of sums, with loss and count riding behind the last element.
 *
 * <p>Sends 2 (n − 1) / n of the arena's bytes per rank and window.
 */
record DenseExchange(Collective collective) implements Exchange {

  @Override
  public Totals exchange(Gradients gradients, List<Bucket> buckets) {
    if (collective.size() == 1) {
      return gradients.ownTotals();
    }
    try (var _ = TensorScope.open()) {
      List<Pending> pending = new ArrayList<>();
      for (var bucket : buckets) {
        var slice = gradients.slice(bucket);
        pending.add(collective.allReduce(slice, Reduction.SUM, Traffic.EXCHANGE));
      }
      pending.forEach(Pending::await);
    }
    return gradients.totals();
  }
}
