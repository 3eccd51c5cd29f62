package dev.flotilla.step;

import dev.flotilla.arena.Layout;
import dev.flotilla.memory.StateMemory;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.ParameterGroup.Slice;
import dev.flotilla.state.RunState;
import java.util.List;

/** Updates the slices of parameters that this rank keeps; other ranks update theirs. */
public final class SlicedUpdate implements Update {

  private final StateMemory memory;
  private final ParameterGroups groups;
  private final Optimizer.Bound optimizer;

  /**
   * Binds an optimizer to slices.
   *
   * @param slices this rank's, in the order of the arena; they must outlive this update
   * @param memory where the optimizer keeps what it remembers; closed with this update
   */
  public SlicedUpdate(
      Layout layout, UpdateSettings settings, List<Slice> slices, StateMemory memory) {
    this.memory = memory;
    groups = new ParameterGroups(layout, settings, slices, memory);
    optimizer = settings.optimizer().bind(groups.groups());
  }

  @Override
  public void apply(double lr) {
    optimizer.update(lr);
  }

  @Override
  public void remember(RunState state) {
    optimizer.remember(state.sliced().part("optimizer"));
  }

  @Override
  public void close() {
    optimizer.close();
    groups.close();
    memory.close();
  }
}
