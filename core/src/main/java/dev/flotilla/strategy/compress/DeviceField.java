package dev.flotilla.strategy.compress;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import java.util.List;
import java.util.OptionalDouble;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * A bucket of four arenas on a device, from its first compressed element to its last.
 *
 * <p>Passes run over all of it at once, as a kernel per parameter would cost more than the work;
 * what small parameters in between keep is put back behind each pass.
 *
 * @param start its first element, counted from the start of the bucket
 * @param gradient the gradient g
 * @param velocity the velocity u
 * @param residual the residual v
 * @param weight the parameter w
 * @param decays the compressed slices, counted from {@code start}, with this rank's part λ / N of
 *     the decay
 * @param others the indices of small parameters
 */
record DeviceField(
    int start,
    Tensor gradient,
    Tensor velocity,
    Tensor residual,
    Tensor weight,
    List<ArenaSlice> decays,
    Tensor others) {

  /** Takes tensors of one length that are compressed as a whole, without decay; frees them. */
  static DeviceField whole(Tensor gradient, Tensor velocity, Tensor residual, Tensor weight) {
    try (var _ = TensorScope.open()) {
      var none = ComputeDevice.of(gradient).zeros(torch.ScalarType.Long, 0);
      return new DeviceField(
          0,
          gradient,
          velocity,
          residual,
          weight,
          List.of(new ArenaSlice(0, gradient.numel(), 0)),
          TensorScope.keep(none));
    }
  }

  /** Returns the number of compressed elements. */
  long elements() {
    return Division.elements(decays);
  }

  /** Returns this rank's part of the decay, if it is the same everywhere. */
  OptionalDouble commonDecay() {
    var distinct = decays.stream().mapToDouble(ArenaSlice::decay).distinct().toArray();
    return distinct.length == 1 ? OptionalDouble.of(distinct[0]) : OptionalDouble.empty();
  }

  /** Adds (λ / N) / c of the weights to gradients that will be multiplied by c. */
  void decay(double factor) {
    if (commonDecay().isPresent()) {
      addWeights(gradient, weight, commonDecay().getAsDouble() / factor);
      return;
    }
    for (var part : decays) {
      try (var _ = TensorScope.open()) {
        addWeights(of(gradient, part), of(weight, part), part.decay() / factor);
      }
    }
  }

  private static Tensor of(Tensor whole, ArenaSlice part) {
    return whole.narrow(0, part.offset(), part.length());
  }

  private static void addWeights(Tensor gradient, Tensor weight, double decay) {
    if (decay != 0) {
      try (var scalar = new Scalar(decay)) {
        gradient.add_(weight, scalar);
      }
    }
  }

  /** Runs a pass over all three that leaves those of small parameters alone. */
  void keepingOthers(Runnable pass) {
    if (others.numel() == 0) {
      pass.run();
      return;
    }
    try (var _ = TensorScope.open()) {
      var gradients = gradient.index_select(0, others);
      var kept = velocity.index_select(0, others);
      pass.run();
      gradient.index_copy_(0, others, gradients);
      velocity.index_copy_(0, others, kept);
      residual.index_fill_(0, others, new Scalar(0.0));
    }
  }

  void free() {
    List.of(gradient, velocity, residual, weight, others).forEach(TensorScope::free);
  }
}
