package dev.flotilla.strategy.shard;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.ParameterGroup.Slice;
import java.util.ArrayList;
import java.util.List;

/** What a rank keeps of parameters and gradients, as views of the arenas. */
final class OwnSlices implements AutoCloseable {

  private final List<Slice> slices = new ArrayList<>();

  OwnSlices(ParameterArena arena, List<Range> ranges) {
    for (var range : ranges) {
      slices.add(
          new Slice(
              TensorScope.keep(arena.values().narrow(0, range.offset(), range.length())),
              TensorScope.keep(
                  arena.gradients().values().narrow(0, range.offset(), range.length())),
              range.offset()));
    }
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
