package dev.flotilla.strategy.shard;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.ParameterGroup.Slice;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;

/** What a rank keeps of parameters and gradients, as views of the arenas. */
final class OwnSlices implements AutoCloseable {

  private final List<Slice> slices = new ArrayList<>();

  /** Takes slices of both arenas, or of the parameters alone where gradients are kept in slices. */
  OwnSlices(ParameterArena arena, List<Range> ranges) {
    var gradients = arena.gradients();
    for (int i = 0; i < ranges.size(); i++) {
      var range = ranges.get(i);
      int index = i;
      slices.add(
          new Slice(
              part(arena.values(), range),
              gradients
                  .kept()
                  .map(kept -> TensorScope.keep(new Tensor(kept.slices().get(index))))
                  .orElseGet(() -> part(gradients.values(), range)),
              range.offset()));
    }
  }

  private static Tensor part(Tensor flat, Range range) {
    return TensorScope.keep(flat.narrow(0, range.offset(), range.length()));
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
