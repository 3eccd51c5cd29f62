package dev.flotilla.step;

import dev.flotilla.collective.Collective;
import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.Shape;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.ForwardBackward;
import dev.flotilla.pass.PooledChain;
import dev.flotilla.pass.SegmentChain;
import dev.flotilla.state.RunState;
import dev.flotilla.state.State;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Holds the batches that must go forward together until all of them are there. */
final class PooledWindow {

  private final boolean isOverWindow;
  private final PooledChain pass;
  private final List<Batch> waiting = new ArrayList<>();

  /**
   * Prepares passes over several batches.
   *
   * @param isOverWindow whether they are those of a whole window
   * @param mayKeepGraphs whether nothing says that a forward pass shall keep less
   * @param group the ranks that pool their statistics
   */
  PooledWindow(
      boolean isOverWindow,
      boolean mayKeepGraphs,
      SegmentChain chain,
      BoundModel model,
      Collective group) {
    this.isOverWindow = isOverWindow;
    boolean keepsGraphs = !isOverWindow && mayKeepGraphs;
    pass = new PooledChain(model, chain, group, keepsGraphs);
  }

  ForwardBackward pass() {
    return pass;
  }

  /** Takes a batch, which the caller may free. */
  void add(Batch batch) {
    if (!batch.isEmpty()) {
      tensors(batch).forEach(TensorScope::keep);
      waiting.add(batch);
    }
  }

  private static Stream<Tensor> tensors(Batch batch) {
    return Stream.concat(batch.inputs().stream(), batch.allTargets().stream());
  }

  /** Tells whether batches wait for the end of the window. */
  boolean isOverWindow() {
    return isOverWindow;
  }

  List<Batch> batches() {
    return List.copyOf(waiting);
  }

  void clear() {
    waiting.forEach(batch -> tensors(batch).forEach(TensorScope::free));
    waiting.clear();
    pass.clear();
  }

  /**
   * Puts down, or takes up, the batches of a window that has not ended; it is pooled over all
   * ranks, so that it does not matter which of them takes up a batch.
   */
  void remember(RunState state) {
    var kept = batches();
    if (!state.isSaving()) {
      clear();
    }
    for (var rank : state.dealt()) {
      var part = rank.part("pooled");
      long count = part.number("batches", kept.size());
      for (int i = 0; i < count; i++) {
        if (state.isSaving()) {
          save(part.part("" + i), kept.get(i));
        } else {
          add(load(part.part("" + i)));
        }
      }
    }
  }

  private static void save(State state, Batch batch) {
    state.number("samples", batch.samples());
    state.number("inputs", batch.inputs().size());
    state.number("targets", batch.allTargets().size());
    var tensors = tensors(batch).toList();
    for (int i = 0; i < tensors.size(); i++) {
      var tensor = tensors.get(i);
      state.text(i + "/type", tensor.scalar_type().intern().name());
      state.number(i + "/axes", tensor.dim());
      for (int axis = 0; axis < tensor.dim(); axis++) {
        state.number(i + "/axis" + axis, tensor.size(axis));
      }
      try (var _ = TensorScope.open()) {
        state.tensor("" + i, tensor.contiguous());
      }
    }
  }

  private static Batch load(State state) {
    int samples = (int) state.number("samples", 0);
    int inputs = (int) state.number("inputs", 0);
    // Earlier versions had one tensor of targets.
    int targets = state.has("targets") ? (int) state.number("targets", 0) : 1;
    List<Tensor> tensors = new ArrayList<>();
    for (int i = 0; i < inputs + targets; i++) {
      var type = torch.ScalarType.valueOf(state.text(i + "/type", ""));
      long[] extents = new long[(int) state.number(i + "/axes", 0)];
      for (int axis = 0; axis < extents.length; axis++) {
        extents[axis] = state.number(i + "/axis" + axis, 0);
      }
      var tensor = Tensors.empty(type, Shape.of(extents).toArray());
      state.tensor("" + i, tensor);
      tensors.add(tensor);
    }
    return new Batch(tensors.subList(0, inputs), tensors.subList(inputs, tensors.size()), samples);
  }
}
