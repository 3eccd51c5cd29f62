package dev.flotilla.zoo.model;

import dev.flotilla.memory.CpuKernels;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.AutogradFunction;
import java.util.List;
import java.util.Optional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch.ScalarType;

/**
 * max(0, ·) and the maximum of each 2×2 window on a CPU, in one pass over memory, with the bits of
 * libtorch's two operations.
 *
 * <p>libtorch's kernel for maxima takes some 25 ns for a window, a quarter of LeNet-5's step, and
 * backward needs all that was rectified and eight bytes for each window; here it needs one.
 */
final class RectifiedMaximum {

  private RectifiedMaximum() {}

  /** Returns the maxima, recorded for backward; nothing where libtorch's operations must do. */
  static Optional<Tensor> of(Tensor input) {
    if (!takes(input)) {
      return Optional.empty();
    }
    long[] images = input.shape();
    long[] windows = {images[0], images[1], images[2] / 2, images[3] / 2};
    Tensor output = Tensors.empty(ScalarType.Float, windows);
    Tensor places = Tensors.empty(ScalarType.Byte, windows);
    CpuKernels.rectifiedMaximum(input, output, places);
    AutogradFunction.record(
        List.of(input),
        List.of(output),
        List.of(places),
        gradients -> {
          Tensor result = Tensors.empty(ScalarType.Float, images);
          CpuKernels.rectifiedMaximumGradient(gradients.getFirst().contiguous(), places, result);
          return List.of(result);
        });
    return Optional.of(output);
  }

  private static boolean takes(Tensor input) {
    return input.dim() == 4
        && input.is_cpu()
        && input.scalar_type().intern() == ScalarType.Float
        && input.is_contiguous()
        && input.numel() > 0
        && input.size(2) >= 2
        && input.size(3) >= CpuKernels.LEAST_WIDTH
        && CpuKernels.arePreferred();
  }
}
