package dev.flotilla.strategy.compress;

import dev.flotilla.arena.ParameterArena;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.ParameterGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.bytedeco.pytorch.Tensor;

/** The optimizer as it is without compression, over some slices of the arena. */
final class OrdinaryUpdate implements AutoCloseable {

  private final List<Tensor> kept = new ArrayList<>();
  private final Optimizer.Bound optimizer;

  /**
   * Binds the optimizer.
   *
   * @param velocity what momentum works on, as long as the arena
   */
  OrdinaryUpdate(
      Optimizer settings, ParameterArena arena, Tensor velocity, List<ArenaSlice> slices) {
    Map<Double, List<ArenaSlice>> byDecay = new TreeMap<>();
    slices.forEach(s -> byDecay.computeIfAbsent(s.decay(), _ -> new ArrayList<>()).add(s));
    List<ParameterGroup> groups = new ArrayList<>();
    List<List<Tensor>> velocities = new ArrayList<>();
    byDecay.forEach(
        (decay, members) -> {
          groups.add(new ParameterGroup(slices(arena, members), decay));
          velocities.add(members.stream().map(slice -> part(velocity, slice)).toList());
        });
    optimizer =
        settings instanceof Momentum momentum
            ? momentum.bind(groups, velocities)
            : settings.bind(groups);
  }

  private List<ParameterGroup.Slice> slices(ParameterArena arena, List<ArenaSlice> slices) {
    return slices.stream()
        .map(
            slice ->
                new ParameterGroup.Slice(
                    part(arena.values(), slice),
                    part(arena.gradients().values(), slice),
                    slice.offset()))
        .toList();
  }

  private Tensor part(Tensor whole, ArenaSlice slice) {
    var part = TensorScope.keep(whole.narrow(0, slice.offset(), slice.length()));
    kept.add(part);
    return part;
  }

  void update(double lr) {
    optimizer.update(lr);
  }

  @Override
  public void close() {
    optimizer.close();
    kept.forEach(TensorScope::free);
  }
}
