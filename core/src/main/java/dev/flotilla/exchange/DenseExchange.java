package dev.flotilla.exchange;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Totals;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import java.util.List;

/**
 * The default exchange: an all-reduce of sums, with loss and count riding behind the last element.
 *
 * <p>Sends 2 (n − 1) / n of the arena's bytes per rank and window.
 */
record DenseExchange(Collective collective) implements Exchange {

  @Override
  public List<Stage> reduce(Gradients gradients, Bucket bucket) {
    return collective.size() == 1
        ? List.of() // its gradients are the sums, and views of them take time in each step
        : List.of(
            () -> collective.allReduce(gradients.slice(bucket), Reduction.SUM, Traffic.EXCHANGE));
  }

  @Override
  public Totals end(Gradients gradients) {
    return collective.size() == 1 ? gradients.ownTotals() : gradients.totals();
  }
}
