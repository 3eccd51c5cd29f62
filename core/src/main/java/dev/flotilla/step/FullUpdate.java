package dev.flotilla.step;

import dev.flotilla.arena.ParameterArena;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.state.RunState;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The default update: every rank updates all parameters. */
public final class FullUpdate implements Update {

  private final ParameterGroups groups;
  private final Optimizer.Bound optimizer;

  /**
   * Binds an optimizer to all trainable parameters.
   *
   * @param noDecay names that are not decayed, or null for the optimizer's own rule
   */
  public FullUpdate(
      ParameterArena arena, Optimizer optimizer, @Nullable Predicate<String> noDecay) {
    this.groups = new ParameterGroups(arena, optimizer, noDecay);
    this.optimizer = optimizer.bind(groups.groups());
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
