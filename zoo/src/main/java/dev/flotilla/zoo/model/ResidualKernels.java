package dev.flotilla.zoo.model;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.GpuKernel;
import java.util.Map;
import java.util.Optional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * The kernels of {@link ResidualSum} and {@link FusedLayerNorm}, compiled for what they are used
 * on.
 *
 * @param device where they run
 * @param isHalf whether what is added to a sum is bf16 and not float32
 * @param atOnce elements that a thread reads at once
 * @param threads of a block
 * @param chunks of a row, each of so many elements, that a thread takes
 */
record ResidualKernels(ComputeDevice device, boolean isHalf, int atOnce, int threads, int chunks) {

  /** Elements that are read at once where all tensors begin at a multiple of 16 bytes. */
  static final int AT_ONCE = 4;

  /** Tells whether a tensor is one that kernels take. */
  static boolean take(Tensor tensor) {
    return tensor.is_cuda() && tensor.numel() > 0 && tensor.is_contiguous() && isFloat(tensor);
  }

  static boolean isFloat(Tensor tensor) {
    return tensor.scalar_type().intern() == torch.ScalarType.Float;
  }

  /** Tells whether the host can compile them. */
  boolean arePresent() {
    return compiled().isPresent();
  }

  /** Starts one of them, on tensors and numbers as the source states them. */
  void launch(String name, int blocks, Object... arguments) {
    var kernel = compiled().orElseThrow().get(name);
    if (kernel == null) {
      throw new IllegalArgumentException("no kernel " + name);
    }
    kernel.launch(blocks, threads, arguments);
  }

  private Optional<Map<String, GpuKernel>> compiled() {
    return KernelSource.RESIDUAL.kernels(device, isHalf, atOnce, threads, chunks);
  }
}
