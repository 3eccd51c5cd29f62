package dev.flotilla.app;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.CollectiveSettings;
import dev.flotilla.collective.Collectives;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.world.World;
import org.bytedeco.pytorch.global.torch.ScalarType;

/** A user's own collectives, in which rank 1 has another {@code size}, {@code type} or order. */
public final class DifferingProgram {

  private DifferingProgram() {}

  /** Sums, and sums something else. */
  public static void main(String[] args) {
    var world = World.join();
    try (var _ = TensorScope.open();
        var group = Collectives.join(world, CollectiveSettings.defaults())) {
      sum(group, ScalarType.Float, 1000);
      boolean differs = world.rank() == 1;
      if (differs && args[0].equals("order")) {
        group.barrier();
      }
      sum(
          group,
          differs && args[0].equals("type") ? ScalarType.Int : ScalarType.Float,
          differs && args[0].equals("size") ? 2000 : 1000);
    }
  }

  private static void sum(Collective group, ScalarType type, int elements) {
    group.allReduce(Tensors.zeros(type, elements), Reduction.SUM, Traffic.EXCHANGE).await();
  }
}
