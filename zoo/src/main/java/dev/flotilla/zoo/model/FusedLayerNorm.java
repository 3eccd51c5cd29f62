package dev.flotilla.zoo.model;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.GpuKernel;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.AutogradFunction;
import java.util.List;
import java.util.Optional;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * LayerNorm on a GPU with a copy in bf16 for the product that follows, in one pass over memory, and
 * its gradients in another. For any transformer whose residual stream is float32.
 */
public final class FusedLayerNorm {

  private static final int MOST_THREADS = 256;
  private static final int WARP = 32;

  /** Wider rows need more registers than a thread has. */
  private static final int WIDEST = 8192;

  /** As many as a large GPU runs at once; a fixed number, so that sums come out the same. */
  private static final int GRADIENT_BLOCKS = 660;

  private final ResidualKernels kernels;
  private final Tensor input;
  private final Tensor gamma;
  private final int width;
  private final int rows;

  /**
   * A normalised tensor.
   *
   * @param whole in float32
   * @param half a copy in bf16 for products in mixed precision; the whole one where none was asked
   *     for
   */
  public record Normalised(Tensor whole, Tensor half) {

    /** Tells whether there is a copy. */
    @SuppressWarnings("ReferenceEquality") // Two handles of one tensor would be two copies.
    boolean isCopied() {
      return whole != half;
    }
  }

  private FusedLayerNorm(ResidualKernels kernels, Tensor input, Tensor gamma) {
    this.kernels = kernels;
    this.input = input;
    this.gamma = gamma;
    width = Math.toIntExact(gamma.numel());
    rows = Math.toIntExact(input.numel() / width);
  }

  /**
   * Returns LayerNorm over the last axis, recorded for backward; nothing where libtorch's operation
   * must do.
   *
   * @param copies whether a copy in bf16 is wanted
   */
  public static Optional<Normalised> of(
      Tensor input, Tensor gamma, Tensor beta, double epsilon, boolean copies) {
    if (!ResidualKernels.take(input)
        || gamma.numel() > WIDEST
        || !ColumnKernels.arePresent(
            ComputeDevice.of(input), torch.ScalarType.Float, 2 * gamma.numel())) {
      return Optional.empty();
    }
    var kernels = kernels(input, gamma, beta);
    return kernels.arePresent()
        ? Optional.of(new FusedLayerNorm(kernels, input, gamma).apply(beta, epsilon, copies))
        : Optional.empty();
  }

  private static ResidualKernels kernels(Tensor input, Tensor gamma, Tensor beta) {
    int width = Math.toIntExact(gamma.numel());
    int atOnce = KernelSource.lanes(ResidualKernels.AT_ONCE, width, input, gamma, beta);
    int lanes = Math.ceilDiv(width, atOnce);
    int threads = Math.clamp(Math.ceilDiv(lanes, WARP) * (long) WARP, WARP, MOST_THREADS);
    int chunks = Math.ceilDiv(lanes, threads);
    return new ResidualKernels(ComputeDevice.of(input), false, atOnce, threads, chunks);
  }

  private Normalised apply(Tensor beta, double epsilon, boolean copies) {
    var device = kernels.device();
    Tensor output;
    Tensor copy;
    Tensor means;
    Tensor inverses;
    try (var scope = TensorScope.open();
        var _ = new NoGradGuard()) {
      output = scope.handOut(torch.empty_like(input));
      means = scope.handOut(device.empty(torch.ScalarType.Float, rows));
      inverses = scope.handOut(device.empty(torch.ScalarType.Float, rows));
      copy =
          copies ? scope.handOut(device.empty(torch.ScalarType.BFloat16, input.shape())) : output;
      Object other = copies ? copy : GpuKernel.ABSENT;
      float added = (float) epsilon;
      kernels.launch(
          "layer_norm", rows, input, gamma, beta, output, other, means, inverses, width, added);
    }
    // Saved without its graph, which would otherwise hold itself.
    var seen = new FusedLayerNorm(kernels, input.detach(), gamma);
    AutogradFunction.record(
        List.of(input, gamma, beta),
        copies ? List.of(output, copy) : List.of(output),
        List.of(seen.input, gamma, means, inverses),
        gradients -> seen.gradients(means, inverses, gradients));
    return new Normalised(output, copy);
  }

  private List<Tensor> gradients(Tensor means, Tensor inverses, List<Tensor> incoming) {
    int blocks = Math.min(rows, GRADIENT_BLOCKS);
    Tensor result = torch.empty_like(input);
    Tensor sums = kernels.device().empty(torch.ScalarType.Float, blocks, 2L * width);
    kernels.launch(
        "layer_norm_gradient",
        blocks,
        orAbsent(incoming.getFirst()),
        orAbsent(incoming.size() > 1 ? incoming.get(1) : null),
        input,
        gamma,
        means,
        inverses,
        result,
        sums,
        (long) rows,
        width);
    Tensor both = ColumnKernels.summed(sums).sums();
    return List.of(result, both.narrow(0, 0, width), both.narrow(0, width, width));
  }

  private static Object orAbsent(@Nullable Tensor gradient) {
    return gradient == null || !gradient.defined() ? GpuKernel.ABSENT : gradient.contiguous();
  }
}
