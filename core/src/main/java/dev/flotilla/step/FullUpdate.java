package dev.flotilla.step;

import dev.flotilla.arena.ParameterArena;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.StateMemory;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.ParameterGroup.Slice;
import dev.flotilla.state.RunState;
import java.util.List;

/** The default update: every rank updates all parameters. */
public final class FullUpdate implements Update {

  private final ParameterGroups groups;
  private final Optimizer.Bound optimizer;

  /** Binds an optimizer to all trainable parameters. */
  public FullUpdate(ParameterArena arena, UpdateSettings settings) {
    var all = new Slice(arena.values(), arena.gradients().values(), 0);
    var memory = StateMemory.on(ComputeDevice.of(arena.values()));
    groups = new ParameterGroups(arena.layout(), settings, List.of(all), memory);
    optimizer = settings.optimizer().bind(groups.groups());
  }

  @Override
  public void apply(double lr) {
    optimizer.update(lr);
  }

  @Override
  public void remember(RunState state) {
    optimizer.remember(state.shared().part("optimizer"));
  }

  @Override
  public void close() {
    optimizer.close();
    groups.close();
  }
}
