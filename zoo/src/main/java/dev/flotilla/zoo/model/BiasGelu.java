package dev.flotilla.zoo.model;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.AutogradFunction;
import dev.flotilla.zoo.model.ColumnKernels.Summed;
import java.util.List;
import java.util.Optional;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * gelu(p + b) on a GPU in one pass over memory, and the gradients of p and b in another (Hendrycks
 * and Gimpel, 2016; the exact one). For any layer whose offset is float32.
 */
public final class BiasGelu {

  private BiasGelu() {}

  /**
   * Returns gelu(input + offset), recorded for backward; nothing where libtorch's operations must
   * do.
   *
   * @param offset over the last axis
   */
  public static Optional<Tensor> of(Tensor input, Tensor offset) {
    if (!input.is_contiguous() || !takes(input.scalar_type(), offset)) {
      return Optional.empty();
    }
    Tensor output;
    try (var scope = TensorScope.open();
        var _ = new NoGradGuard()) {
      output = scope.handOut(ColumnKernels.gelu(input, offset));
    }
    Tensor seen = input.detach();
    AutogradFunction.record(
        List.of(input, offset),
        List.of(output),
        List.of(seen),
        gradients -> {
          Tensor gradient = gradients.getFirst().contiguous();
          Tensor result = torch.empty_like(seen);
          var both = ColumnKernels.geluGradient(gradient, seen, offset, result, new Tensor());
          return List.of(both.whole(), both.sums());
        });
    return Optional.of(output);
  }

  /** Tells whether {@link #of} would take an input of this type. */
  public static boolean takes(torch.ScalarType type, Tensor offset) {
    return offset.is_cuda()
        && ResidualKernels.isFloat(offset)
        && ColumnKernels.arePresent(ComputeDevice.of(offset), type.intern(), offset.numel());
  }

  /**
   * Returns the gradients of input and offset.
   *
   * @param gradient of the output, whose memory that of the input takes
   */
  static Summed gradientInPlace(Tensor gradient, Tensor input, Tensor offset) {
    return ColumnKernels.geluGradient(gradient, input, offset, gradient, new Tensor());
  }

  /**
   * Computes the gradients of a recomputed input and of the offset, and what {@link #of} has given,
   * in one pass over memory instead of two.
   *
   * @param gradient of the output, whose memory that of the input takes
   * @param input nobody reads it again: its memory takes the output
   * @return the gradient of the offset
   */
  public static Tensor gradientAndOutputInPlace(Tensor gradient, Tensor input, Tensor offset) {
    return ColumnKernels.geluGradient(gradient, input, offset, gradient, input).sums();
  }
}
