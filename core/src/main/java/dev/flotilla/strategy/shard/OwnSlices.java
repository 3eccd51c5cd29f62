package dev.flotilla.strategy.shard;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.arena.KeptSlices;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.ParameterGroup.Slice;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/** What a rank keeps of parameters and gradients, as views of the arenas. */
final class OwnSlices implements AutoCloseable {

  private final List<Slice> slices = new ArrayList<>();

  /**
   * Takes slices of both arenas, or what is kept in place of them.
   *
   * @param values the slices of parameters that are kept, or null where the arena has them all
   */
  OwnSlices(ParameterArena arena, @Nullable KeptSlices values, List<Range> ranges) {
    var gradients = arena.gradients();
    for (int i = 0; i < ranges.size(); i++) {
      var range = ranges.get(i);
      int index = i;
      slices.add(
          new Slice(
              values == null
                  ? part(arena.values(), range)
                  : TensorScope.keep(new Tensor(values.slices().get(index))),
              gradients
                  .kept()
                  .map(kept -> TensorScope.keep(new Tensor(kept.slices().get(index))))
                  .orElseGet(() -> part(gradients.values(), range)),
              range.offset()));
    }
  }

  private static Tensor part(Tensor flat, Range range) {
    return TensorScope.keep(range.of(flat, 0));
  }

  List<Slice> slices() {
    return slices;
  }

  @Override
  public void close() {
    for (var slice : slices) {
      TensorScope.free(slice.parameter());
      TensorScope.free(slice.gradient());
    }
    slices.clear();
  }
}
