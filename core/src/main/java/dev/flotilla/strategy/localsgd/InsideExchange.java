package dev.flotilla.strategy.localsgd;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.exchange.Exchange;

/**
 * Exchanges gradients among the ranks that share their parameters; with nobody, where a rank is on
 * its own.
 */
record InsideExchange(Collective inside) implements Exchange {

  @Override
  public Pending share(Gradients gradients, Bucket bucket) {
    return inside.size() > 1 ? Exchange.dense(inside).share(gradients, bucket) : Pending.DONE;
  }

  @Override
  public Collective peers(Collective all) {
    return inside;
  }
}
