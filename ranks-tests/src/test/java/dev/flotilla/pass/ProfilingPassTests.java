package dev.flotilla.pass;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.zoo.model.Mlp;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ProfilingPassTests {

  private static final int POINTS = 512;
  private static final int WIDTH = 64;
  private static final int LAYERS = 12;

  /** An allocator soon gives the place of an output that was freed to a later one. */
  @Test
  void outputsThatLieWhereEarlierOnesLayAreOthers() {
    var data = new ColouredPoints(POINTS, 8, 4);
    var model = new Mlp(8, Collections.nCopies(LAYERS, WIDTH), 4);
    List<PartCost> costs = new ArrayList<>();
    try (var bound = new BoundModel(model, Precision.FLOAT32, 1, _ -> false);
        var chain = new SegmentChain(bound, 1, 0);
        var _ = TensorScope.open()) {
      chain.checkpointing(
          profiling -> {
            costs.addAll(profiling.measure(1));
            return List.of(Span.kept(0, bound.parts().size()));
          });
      chain.forward(data.load(IntStream.range(0, POINTS).toArray()), MicroStep.NONE);

      assertThat(costs).hasSizeGreaterThan(LAYERS);
      assertThat(costs).allSatisfy(cost -> assertThat(cost.outputs()).hasSize(1));
      assertThat(costs.stream().flatMap(cost -> cost.outputs().keySet().stream()))
          .doesNotHaveDuplicates();
    }
  }
}
