package dev.flotilla.strategy.localsgd;

import dev.flotilla.collective.Pending;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.ArrayDeque;
import java.util.Deque;
import org.bytedeco.pytorch.Tensor;

/** Sums in the vector's own type. */
final class PlainWire implements MeanWire {

  private final Levels levels;
  private final Traffic traffic;
  private final Deque<UnderWay> underWay = new ArrayDeque<>();

  /** A piece, by a handle of its own. */
  private record UnderWay(Tensor piece, Pending pending) {}

  PlainWire(Levels levels, Traffic traffic) {
    this.levels = levels;
    this.traffic = traffic;
  }

  @Override
  public boolean takesPieces() {
    return true;
  }

  @Override
  public void start(Tensor vector) {
    try (var _ = TensorScope.open()) {
      var piece = TensorScope.keep(vector.narrow(0, 0, vector.numel()));
      var pending =
          levels.isLeader()
              ? levels.across().allReduce(piece, Reduction.SUM, traffic)
              : Pending.DONE;
      underWay.add(new UnderWay(piece, pending));
    }
  }

  @Override
  public void finishFirst() {
    var first = underWay.remove();
    try {
      first.pending().await();
      Tensors.scale(first.piece(), 1.0 / levels.replicas());
      levels.told().broadcast(first.piece(), 0, traffic).await();
    } finally {
      TensorScope.free(first.piece());
    }
  }

  @Override
  public void finish() {
    while (!underWay.isEmpty()) {
      finishFirst();
    }
  }
}
