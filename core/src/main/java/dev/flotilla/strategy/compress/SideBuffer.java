package dev.flotilla.strategy.compress;

import dev.flotilla.arena.Gradients;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;

/** Shares the gradients of small parameters densely, all of them in one all-reduce. */
final class SideBuffer implements AutoCloseable {

  private final Collective collective;
  private final Tensor all;
  private final List<Tensor> places = new ArrayList<>();
  private final List<Tensor> copies = new ArrayList<>();
  private Pending pending = Pending.DONE;

  SideBuffer(Gradients gradients, List<ArenaSlice> slices, Collective collective) {
    this.collective = collective;
    try (var _ = TensorScope.open()) {
      all = TensorScope.keep(gradients.values().new_zeros(Division.elements(slices)));
      long at = 0;
      for (var slice : slices) {
        var place = gradients.values().narrow(0, slice.offset(), slice.length());
        places.add(TensorScope.keep(place));
        copies.add(TensorScope.keep(all.narrow(0, at, slice.length())));
        at += slice.length();
      }
    }
  }

  /** Starts to sum, each rank's gradients times its factor. */
  void start(double factor) {
    for (int i = 0; i < places.size(); i++) {
      copies.get(i).copy_(places.get(i));
    }
    Tensors.scale(all, factor);
    pending = collective.allReduce(all, Reduction.SUM, Traffic.EXCHANGE);
  }

  /** Waits for the sums and puts them in place. */
  void finish() {
    pending.await();
    for (int i = 0; i < places.size(); i++) {
      places.get(i).copy_(copies.get(i));
    }
  }

  @Override
  public void close() {
    places.forEach(TensorScope::free);
    copies.forEach(TensorScope::free);
    TensorScope.free(all);
  }
}
