package dev.flotilla.strategy.localsgd;

import dev.flotilla.arena.Totals;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.state.State;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.Tensor;

/** The few numbers that ranks tell each other at an average: loss, drift and computing time. */
final class RoundNumbers implements AutoCloseable {

  private static final int LOSS = 0;
  private static final int COUNT = 1;
  private static final int DRIFT = 2;
  private static final int SECONDS = 3;
  private static final int NUMBERS = 4;

  private final Collective collective;
  private final Tensor own;
  private final Tensor all;
  private final MemorySegment view;
  private Pending pending = Pending.DONE;

  RoundNumbers(Collective collective) {
    this.collective = collective;
    try (var _ = TensorScope.open()) {
      own = TensorScope.keep(Tensors.ofDoubles(new double[NUMBERS]));
      all = TensorScope.keep(Tensors.ofDoubles(new double[NUMBERS * collective.size()]));
      view = NativeView.of(all);
    }
  }

  /** Begins to tell the others. */
  void start(Totals totals, double drift, double seconds) {
    var memory = NativeView.of(own);
    memory.setAtIndex(ValueLayout.JAVA_DOUBLE, LOSS, totals.lossSum());
    memory.setAtIndex(ValueLayout.JAVA_DOUBLE, COUNT, totals.count());
    memory.setAtIndex(ValueLayout.JAVA_DOUBLE, DRIFT, drift);
    memory.setAtIndex(ValueLayout.JAVA_DOUBLE, SECONDS, seconds);
    pending = collective.allGather(all, own, Traffic.SCALAR);
  }

  /** Waits for the numbers of all ranks. */
  void finish() {
    pending.await();
    pending = Pending.DONE;
  }

  /** Returns loss and count over all ranks, summed in rank order. */
  Totals totals() {
    return new Totals(each(LOSS).sum(), (long) each(COUNT).sum());
  }

  DoubleStream drifts() {
    return each(DRIFT);
  }

  /** Returns the time that each rank has computed since the average before. */
  double[] seconds() {
    return each(SECONDS).toArray();
  }

  private DoubleStream each(int number) {
    return IntStream.range(0, collective.size())
        .mapToDouble(
            rank -> view.getAtIndex(ValueLayout.JAVA_DOUBLE, (long) rank * NUMBERS + number));
  }

  /** Puts down, or takes up; nothing may be under way. */
  void remember(State own) {
    own.tensor("numbers", all);
  }

  @Override
  public void close() {
    TensorScope.free(own);
    TensorScope.free(all);
  }
}
