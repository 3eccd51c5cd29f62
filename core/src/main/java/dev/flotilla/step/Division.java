package dev.flotilla.step;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.data.Batch;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.Divisors;
import dev.flotilla.model.ObjectiveParts;
import dev.flotilla.state.RunState;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Divides the parts of a loss each by a number of its own: holds a window's batches until all are
 * there, and then agrees with other ranks on the divisors, before any of them runs.
 */
final class Division {

  private final ObjectiveParts parts;
  private final Collective peers;
  private final HeldBatches held = new HeldBatches();

  /**
   * Prepares windows.
   *
   * @param peers the ranks that exchange gradients
   */
  Division(ObjectiveParts parts, Collective peers) {
    this.parts = parts;
    this.peers = peers;
  }

  void hold(Batch batch) {
    held.add(batch);
  }

  List<Batch> batches() {
    return held.batches();
  }

  /** Returns the divisors of batches on all ranks; all ranks call it together. */
  Divisors over(List<Batch> batches) {
    var own = Divisors.of(parts, batches.toArray(Batch[]::new));
    return peers.size() == 1 ? own : new Divisors(reduced(Reduction.SUM, own.numbers()));
  }

  /** Returns how many batches the rank with most of them holds; all ranks call it together. */
  int rounds(List<Batch> batches) {
    return peers.size() == 1 ? batches.size() : (int) reduced(Reduction.MAX, batches.size())[0];
  }

  private double[] reduced(Reduction how, double... numbers) {
    try (var _ = TensorScope.open()) {
      var sums = Tensors.ofDoubles(numbers);
      peers.allReduce(sums, how, Traffic.SCALAR).await();
      return NativeView.of(sums).toArray(ValueLayout.JAVA_DOUBLE);
    }
  }

  void clear() {
    held.clear();
  }

  void remember(RunState state) {
    held.remember(state);
  }
}
