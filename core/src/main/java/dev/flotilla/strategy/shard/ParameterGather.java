package dev.flotilla.strategy.shard;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.arena.Layout;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.pass.ParameterGate;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.StepOutcome;
import dev.flotilla.step.Sync;
import dev.flotilla.strategy.shard.Slicing.Unit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.Tensor;

/**
 * Gathers what ranks have updated, each its slices, while the next forward pass begins: the units
 * of the first segments go first, and a segment waits for its own.
 *
 * <p>Sends (n − 1) / n of the parameters' bytes per rank and update, and takes no memory: slices
 * travel from their place to their place. It has a process group of its own, as gradients are
 * exchanged at the same time on another thread.
 */
final class ParameterGather implements Sync, ParameterGate {

  private final Collective group;
  private final Slicing slicing;
  private final OwnSlices own;
  private final Tensor values;
  private final Deque<UnderWay> underWay = new ArrayDeque<>();

  private record UnderWay(Unit unit, Pending arrival) {}

  ParameterGather(StepContext context, Slicing slicing, OwnSlices own) {
    this.own = own;
    var all = context.peers();
    group = all.size() == 1 ? all : all.subgroup(IntStream.range(0, all.size()).toArray());
    this.slicing = slicing;
    values = context.arena().values();
    context.model().gate(this);
  }

  @Override
  public void afterWindow(StepOutcome window) {
    if (window.updated()) {
      gather(Traffic.EXCHANGE);
    }
  }

  private void gather(Traffic traffic) {
    try (var _ = TensorScope.open()) {
      for (var unit : slicing.units()) {
        var whole = unit.range().of(values, 0);
        var own = unit.slices().slice(whole, group.rank());
        var arrival = group.allGather(whole, own, unit.slices(), traffic);
        underWay.add(new UnderWay(unit, arrival));
      }
    }
  }

  @Override
  public boolean sharesOut() {
    return true;
  }

  @Override
  public List<Range> updated(Layout layout) {
    return slicing.of(group.rank()).stream().filter(range -> range.length() > 0).toList();
  }

  @Override
  public <T> T whileReplaced(Runnable swap, Supplier<T> action) {
    change(swap);
    T result = action.get();
    change(swap);
    return result;
  }

  /** What is still being sent stays as it is. */
  @Override
  public void change(Runnable change) {
    settle();
    change.run();
    gather(Traffic.SCALAR);
  }

  @Override
  public void enter(int segment) {
    while (!underWay.isEmpty() && underWay.getFirst().unit().segment() <= segment) {
      underWay.removeFirst().arrival().await();
    }
  }

  /** An update may follow at once, and must not change what is still being sent. */
  @Override
  public void passWithoutBatch() {
    settle();
  }

  @Override
  public void settle() {
    enter(Integer.MAX_VALUE);
  }

  /** What is under way has been started, and must arrive before the group may be left. */
  @Override
  public void close() {
    try {
      settle();
    } finally {
      own.close();
    }
  }
}
