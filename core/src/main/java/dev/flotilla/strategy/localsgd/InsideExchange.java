package dev.flotilla.strategy.localsgd;


import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Totals;
import dev.flotilla.collective.Collective;
import dev.flotilla.engine.Exchange;
import java.util.List;

/**
 * Exchanges gradients among the ranks that share their parameters; with nobody, where a rank is on
 * its own.
 */
record InsideExchange(Collective inside) implements Exchange {

  @Override
  public Totals exchange(Gradients gradients, List<Bucket> buckets) {
    return Exchange.dense(inside).exchange(gradients, buckets);
  }

  @Override
  public Collective peers(Collective all) {
    return inside;
  }
}
