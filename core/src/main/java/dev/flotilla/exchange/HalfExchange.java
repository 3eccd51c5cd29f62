package dev.flotilla.exchange;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.wire.Dtype;
import dev.flotilla.wire.HalfSum;
import java.util.List;

/** Sums gradients in 16 bits each; loss and count, which must be exact, go before them. */
final class HalfExchange implements Exchange {

  private final Collective collective;
  private final HalfSum sum;

  HalfExchange(Collective collective, Dtype wire, long longest) {
    this.collective = collective;
    sum = new HalfSum(collective, wire, longest);
  }

  @Override
  public void begin(Gradients gradients) {
    try (var _ = TensorScope.open()) {
      collective.allReduce(gradients.tail(), Reduction.SUM, Traffic.SCALAR).await();
    }
  }

  @Override
  public List<Stage> reduce(Gradients gradients, Bucket bucket) {
    return Stage.ofParts(
        sum.chunks(() -> gradients.part(bucket), bucket.length(), Traffic.EXCHANGE));
  }

  @Override
  public void close() {
    sum.close();
  }
}
