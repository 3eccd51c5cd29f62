package dev.flotilla.step;

import dev.flotilla.arena.Layout;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.StateMemory;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.ParameterGroup.Slice;
import dev.flotilla.optim.SumOverRanks;
import dev.flotilla.state.RunState;
import dev.flotilla.state.State;
import java.util.List;
import java.util.function.Function;
import org.bytedeco.pytorch.Tensor;

/** An optimizer bound to what this rank updates: all parameters, or its slices of them. */
public final class OptimizerUpdate implements Update {

  private final StateMemory memory;
  private final ParameterGroups groups;
  private final Optimizer.Bound optimizer;
  private final Function<RunState, State> place;

  private OptimizerUpdate(
      Layout layout,
      UpdateSettings settings,
      List<Slice> slices,
      StateMemory memory,
      SumOverRanks ranks,
      Function<RunState, State> place) {
    this.memory = memory;
    this.place = place;
    groups = new ParameterGroups(layout, settings, slices, memory);
    optimizer = settings.optimizer().bind(groups.groups(), ranks);
  }

  /** The default: every rank updates all trainable parameters. */
  public static OptimizerUpdate ofAll(ParameterArena arena, UpdateSettings settings) {
    var all = new Slice(arena.values(), arena.gradients().values(), 0);
    var memory = StateMemory.on(ComputeDevice.of(arena.values()));
    return new OptimizerUpdate(
        arena.layout(), settings, List.of(all), memory, SumOverRanks.none(), RunState::shared);
  }

  /**
   * Updates the slices that this rank keeps; other ranks update theirs.
   *
   * @param slices in the order of the arena; they must outlive this update
   * @param memory where the optimizer keeps what it remembers; closed with this update
   * @param ranks those that hold the other slices
   */
  public static OptimizerUpdate ofSlices(
      Layout layout,
      UpdateSettings settings,
      List<Slice> slices,
      StateMemory memory,
      SumOverRanks ranks) {
    return new OptimizerUpdate(layout, settings, slices, memory, ranks, RunState::sliced);
  }

  @Override
  public void apply(double lr) {
    optimizer.update(lr);
  }

  @Override
  public boolean skipsOnDevice() {
    return optimizer.skipsOnDevice();
  }

  @Override
  public void applyUnless(Tensor found, double lr) {
    optimizer.updateUnless(found, lr);
  }

  @Override
  public void remember(RunState state) {
    optimizer.remember(place.apply(state).part("optimizer"));
  }

  @Override
  public void close() {
    optimizer.close();
    groups.close();
    memory.close();
  }
}
