package dev.flotilla.step;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.Shape;
import dev.flotilla.state.RunState;
import dev.flotilla.state.State;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Batches that wait until all of their window are there. */
final class HeldBatches {

  private final List<Batch> waiting = new ArrayList<>();

  /** Takes a batch, which the caller may free. */
  void add(Batch batch) {
    if (!batch.isEmpty()) {
      tensors(batch).forEach(TensorScope::keep);
      // What else it knows of its targets in main memory may be freed.
      waiting.add(new Batch(batch.inputs(), batch.allTargets(), batch.samples()));
    }
  }

  private static Stream<Tensor> tensors(Batch batch) {
    return Stream.concat(batch.inputs().stream(), batch.allTargets().stream());
  }

  List<Batch> batches() {
    return List.copyOf(waiting);
  }

  void clear() {
    waiting.forEach(batch -> tensors(batch).forEach(TensorScope::free));
    waiting.clear();
  }

  /**
   * Puts down, or takes up, the batches of a window that has not ended; it belongs to all ranks
   * together, so that it does not matter which of them takes up a batch.
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
