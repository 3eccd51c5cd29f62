package dev.flotilla.optim;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.State;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Counts the updates of each group, in tensors as what else a rule remembers. Groups that are
 * frozen equally long have one count, which begins when they thaw.
 */
final class UpdateNumbers implements AutoCloseable {

  private final List<GroupState> groups;
  private final Map<Integer, Tensor> byFrozenEpochs = new TreeMap<>();

  UpdateNumbers(List<GroupState> groups, ComputeDevice device, torch.ScalarType type) {
    this.groups = groups;
    try (var _ = TensorScope.open()) {
      byFrozenEpochs.put(0, TensorScope.keep(device.zeros(type)));
      for (var group : groups) {
        byFrozenEpochs.computeIfAbsent(
            group.values().frozenEpochs(), _ -> TensorScope.keep(device.zeros(type)));
      }
    }
  }

  /** Counts the update that follows. */
  void next() {
    try (var one = new Scalar(1.0)) {
      byFrozenEpochs.forEach(
          (epochs, count) -> {
            if (!isFrozen(epochs)) {
              count.add_(one);
            }
          });
    }
  }

  /** Takes the last count back if a number is 1 and not 0. */
  void takeBackIf(Tensor number) {
    byFrozenEpochs.forEach(
        (epochs, count) -> {
          if (!isFrozen(epochs)) {
            count.sub_(number);
          }
        });
  }

  private boolean isFrozen(int epochs) {
    return epochs > 0
        && groups.stream()
            .filter(group -> group.values().frozenEpochs() == epochs)
            .anyMatch(GroupState::isFrozen);
  }

  /** Returns the count of a group's updates. */
  Tensor of(GroupValues group) {
    return Objects.requireNonNull(
        byFrozenEpochs.getOrDefault(group.frozenEpochs(), byFrozenEpochs.get(0)));
  }

  /** Returns the number of a group's update, from 1. */
  long number(GroupValues group) {
    return (long) of(group).item_double();
  }

  void remember(State state) {
    byFrozenEpochs.forEach(
        (epochs, count) -> {
          var name = epochs == 0 ? "step" : "step-after-epoch-" + epochs;
          if (epochs == 0 || state.has(name)) {
            state.tensor(name, count);
          }
        });
  }

  @Override
  public void close() {
    byFrozenEpochs.values().forEach(TensorScope::free);
  }
}
