package dev.flotilla.strategy.localsgd;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.collective.Collective;
import dev.flotilla.exchange.Exchange;
import dev.flotilla.exchange.Stage;
import java.util.List;

/**
 * Exchanges gradients among the ranks that share their parameters; with nobody, where a rank is on
 * its own.
 */
record InsideExchange(Collective inside) implements Exchange {

  @Override
  public List<Stage> reduce(Gradients gradients, Bucket bucket) {
    return inside.size() > 1 ? Exchange.dense(inside).reduce(gradients, bucket) : List.of();
  }
}
