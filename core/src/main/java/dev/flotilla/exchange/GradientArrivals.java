package dev.flotilla.exchange;

import dev.flotilla.arena.ParameterArena;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.AutogradFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.IntConsumer;
import org.bytedeco.pytorch.FunctionPostHook;
import org.bytedeco.pytorch.Node;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;

/**
 * Hears of each gradient right after backward has added it to the arena, or left it at its
 * parameter to be added now.
 *
 * <p>A hook on a parameter itself would be too early: it runs before the addition. So the hooks
 * follow the nodes that add. Node and Java hook must stay reachable: a node that is freed takes its
 * hook with it in silence.
 */
final class GradientArrivals implements AutoCloseable {

  private final List<Followed> followed = new ArrayList<>();

  private record Followed(Tensor use, Node adding, Hook hook, long key) {}

  /**
   * Sets the hooks.
   *
   * @param arrived takes the number of a parameter in the layout, on the thread of backward
   */
  GradientArrivals(ParameterArena arena, IntConsumer arrived) {
    var slots = arena.layout().slots();
    AutogradFunction.watchLeaves();
    try (var _ = TensorScope.open()) {
      for (int i = 0; i < slots.size(); i++) {
        var parameter = arena.parameters().get(slots.get(i).spec().name());
        var slot = slots.get(i);
        follow(
            Objects.requireNonNull(parameter),
            new Hook(
                i,
                number -> {
                  if (arena.leaves().collects()) {
                    arena.leaves().collect(slot);
                  }
                  arrived.accept(number);
                }));
      }
    }
  }

  private void follow(Tensor parameter, Hook hook) {
    // Any function of the parameter leads to the one node that adds its gradient.
    var use = TensorScope.keep(parameter.view_as(parameter));
    var adding = TensorScope.keep(use.grad_fn().next_edge(0).function());
    long key = adding.add_post_hook(TensorScope.keep(hook));
    followed.add(new Followed(use, adding, hook, key));
  }

  /** Removes the hooks. */
  @Override
  public void close() {
    for (var each : followed) {
      each.adding().del_post_hook(each.key());
      TensorScope.free(each.hook());
      TensorScope.free(each.adding());
      TensorScope.free(each.use());
    }
    followed.clear();
  }

  private static final class Hook extends FunctionPostHook {

    private final int index;
    private final IntConsumer arrived;

    Hook(int index, IntConsumer arrived) {
      this.index = index;
      this.arrived = arrived;
    }

    @Override
    public TensorVector apply(TensorVector outputs, TensorVector inputs) {
      arrived.accept(index);
      return outputs;
    }
  }
}
