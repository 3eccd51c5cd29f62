package dev.flotilla.strategy.shard;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.exchange.Exchange;
import dev.flotilla.exchange.Stage;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.strategy.shard.Slicing.Unit;
import dev.flotilla.wire.ReduceScatter;
import java.util.List;
import org.bytedeco.pytorch.Tensor;

/**
 * Gives each rank the sums of its slices, in their place in the gradient arena; what lies between
 * them is what this rank alone has added up, or scaled for the wire.
 *
 * <p>Sends (n − 1) / n of the arena's bytes per rank and window, or half of that in 16 bits. A
 * bucket of one unit is sent from where it lies; several small ones are packed so that one message
 * per rank does. A bucket under way takes the memory of what it receives, once its size, and as
 * much again where it is packed.
 */
final class ScatterExchange implements Exchange {

  private final Collective collective;
  private final Slicing slicing;
  private final ReduceScatter sum;

  ScatterExchange(Collective collective, Slicing slicing, ReduceScatter sum) {
    this.collective = collective;
    this.slicing = slicing;
    this.sum = sum;
  }

  /** Loss and count go before the gradients: a scatter would give them to one rank alone. */
  @Override
  public void begin(Gradients gradients) {
    try (var _ = TensorScope.open()) {
      collective.allReduce(gradients.tail(), Reduction.SUM, Traffic.SCALAR).await();
    }
  }

  @Override
  public List<Stage> reduce(Gradients gradients, Bucket bucket) {
    var units = slicing.in(bucket.range());
    return List.of(
        () ->
            units.size() == 1
                ? scatter(gradients, units.getFirst())
                : scatterPacked(gradients, units));
  }

  private Pending scatter(Gradients gradients, Unit unit) {
    var whole = unit.range().of(gradients.values(), 0);
    var own = unit.slices().slice(whole, collective.rank());
    return sum.start(own, whole, unit.slices(), Traffic.EXCHANGE);
  }

  private Pending scatterPacked(Gradients gradients, List<Unit> units) {
    var slices = Slicing.together(units, collective.size());
    var packed = TensorScope.keep(gradients.values().new_empty(slices.elements()));
    var own = slices.slice(packed, collective.rank());
    for (int rank = 0; rank < collective.size(); rank++) {
      copyEach(gradients, units, rank, slices.slice(packed, rank), true);
    }
    Pending arrival;
    try {
      arrival = sum.start(own, packed, slices, Traffic.EXCHANGE);
    } catch (RuntimeException failure) {
      TensorScope.free(packed);
      throw failure;
    }
    return () -> {
      try (var _ = TensorScope.open()) {
        arrival.await();
        var sums = slices.slice(packed, collective.rank());
        copyEach(gradients, units, collective.rank(), sums, false);
      } finally {
        TensorScope.free(packed);
      }
    };
  }

  private static void copyEach(
      Gradients gradients, List<Unit> units, int rank, Tensor packed, boolean packs) {
    long at = 0;
    for (var unit : units) {
      var range = unit.of(rank);
      if (range.length() > 0) {
        var place = range.of(gradients.values(), 0);
        var copy = packed.narrow(0, at, range.length());
        var _ = packs ? copy.copy_(place) : place.copy_(copy);
        at += range.length();
      }
    }
  }
}
