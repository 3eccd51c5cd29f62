package dev.flotilla.strategy.fusion;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Totals;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.exchange.Exchange;
import dev.flotilla.exchange.Stage;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.step.StepContext;
import dev.flotilla.wire.Dtype;
import dev.flotilla.wire.HalfSum;
import java.util.List;

/** Sums gradients in 16 bits each; loss and count, which must be exact, go before them. */
final class HalfExchange implements Exchange {

  private final Collective collective;
  private final HalfSum sum;

  HalfExchange(StepContext context, Dtype wire) {
    collective = context.collective();
    sum = new HalfSum(collective, wire, context.arena().layout().length());
  }

  @Override
  public void begin(Gradients gradients) {
    try (var _ = TensorScope.open()) {
      collective.allReduce(gradients.tail(), Reduction.SUM, Traffic.SCALAR).await();
    }
  }

  @Override
  public List<Stage> reduce(Gradients gradients, Bucket bucket) {
    return List.of(
        () -> {
          sum.add(gradients.part(bucket), Traffic.EXCHANGE);
          return Pending.DONE;
        });
  }

  @Override
  public Totals end(Gradients gradients) {
    sum.finish(Traffic.EXCHANGE);
    return gradients.totals();
  }

  @Override
  public void close() {
    sum.close();
  }
}
