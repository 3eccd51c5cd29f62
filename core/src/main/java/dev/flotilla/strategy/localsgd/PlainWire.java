package dev.flotilla.strategy.localsgd;

import dev.flotilla.collective.Pending;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.Tensors;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/** Sums in the vector's own type. */
final class PlainWire implements MeanWire {

  private final Levels.Joined levels;
  private final Traffic traffic;
  private Pending pending = Pending.DONE;
  private @Nullable Tensor underWay;

  PlainWire(Levels.Joined levels, Traffic traffic) {
    this.levels = levels;
    this.traffic = traffic;
  }

  @Override
  public void start(Tensor vector) {
    underWay = vector;
    if (levels.isLeader()) {
      pending = levels.across().allReduce(vector, Reduction.SUM, traffic);
    }
  }

  @Override
  public void finish() {
    var vector = underWay;
    if (vector == null) {
      return;
    }
    underWay = null;
    pending.await();
    pending = Pending.DONE;
    Tensors.scale(vector, 1.0 / levels.replicas());
    levels.inside().broadcast(vector, 0, traffic).await();
  }
}
