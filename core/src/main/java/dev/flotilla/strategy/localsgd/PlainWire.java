package dev.flotilla.strategy.localsgd;

import dev.flotilla.collective.Pending;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Sums in the vector's own type.
 *
 * <p>In pieces, so that one is on the wire while another is added up: a ring over one large tensor
 * reaches less of the wire's rate.
 */
final class PlainWire implements MeanWire {

  private static final long PIECE = 1 << 21;

  private final Levels.Joined levels;
  private final Traffic traffic;
  private final List<Pending> pending = new ArrayList<>();
  private @Nullable Tensor underWay;

  PlainWire(Levels.Joined levels, Traffic traffic) {
    this.levels = levels;
    this.traffic = traffic;
  }

  @Override
  public void start(Tensor vector) {
    underWay = vector;
    try (var _ = TensorScope.open()) {
      for (long from = 0; levels.isLeader() && from < vector.numel(); from += PIECE) {
        var piece = vector.narrow(0, from, Math.min(PIECE, vector.numel() - from));
        pending.add(levels.across().allReduce(piece, Reduction.SUM, traffic));
      }
    }
  }

  @Override
  public void finish() {
    var vector = underWay;
    if (vector == null) {
      return;
    }
    underWay = null;
    pending.forEach(Pending::await);
    pending.clear();
    Tensors.scale(vector, 1.0 / levels.replicas());
    levels.inside().broadcast(vector, 0, traffic).await();
  }
}
