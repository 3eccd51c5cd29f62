package dev.flotilla.model;

import java.util.HashMap;
import java.util.Map;
import org.bytedeco.pytorch.Tensor;

/** Finds tensors that a module holds under several names. */
final class KnownTensors {

  private record Known(String name, Tensor tensor) {}

  private final Map<Long, Known> byAddress = new HashMap<>();

  /**
   * Returns the name under which a tensor was first asked for.
   *
   * @throws IllegalArgumentException if another tensor lies in the same memory: it would no longer
   *     follow it once both have moved
   */
  String firstNameOf(Tensor tensor, String name) {
    if (tensor.numel() == 0) {
      return name;
    }
    long address;
    try (var memory = tensor.data_ptr()) {
      address = memory.address();
    }
    var first = byAddress.putIfAbsent(address, new Known(name, tensor));
    if (first == null) {
      return name;
    }
    if (!first.tensor().is_same(tensor)) {
      throw new IllegalArgumentException(
          "%s and %s of the module are two tensors in the same memory: register one tensor under both names, or clone one of them"
              .formatted(first.name(), name));
    }
    return first.name();
  }
}
