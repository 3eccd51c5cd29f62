package dev.flotilla.strategy.shard;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.arena.KeptSlices;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.ParameterGroup.Slice;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.bytedeco.pytorch.Tensor;

/** What a rank keeps of parameters and gradients, as views of the arenas. */
final class OwnSlices implements AutoCloseable {

  private final List<Slice> slices = new ArrayList<>();

  /** Takes slices of both arenas, or what is kept in place of them. */
  OwnSlices(ParameterArena arena, List<Range> ranges) {
    var gradients = arena.gradients();
    for (var range : ranges) {
      slices.add(
          new Slice(
              part(arena.keptValues(), arena::values, range),
              part(gradients.kept(), gradients::values, range),
              range.offset()));
    }
  }

  private static Tensor part(Optional<KeptSlices> kept, Supplier<Tensor> all, Range range) {
    return TensorScope.keep(
        kept.flatMap(it -> it.of(range)).map(Tensor::new).orElseGet(() -> range.of(all.get(), 0)));
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
