package dev.flotilla.zoo.model;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.GpuKernel;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.AutogradFunction;
import dev.flotilla.zoo.model.KernelSource.Shape;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Σ −log softmax(z)[c] of logits in bf16 or float32 on a GPU, with its gradient, in one pass over
 * memory.
 */
public final class CrossEntropyKernel {

  /** Bytes that a thread reads at once where rows begin at a multiple of them. */
  private static final int AT_ONCE = 16;

  private static final int THREADS = 512;

  /** Bytes of a row that a thread takes at most: more would need more registers than it has. */
  private static final int MOST_BYTES = 256;

  /** Blocks that multiply a gradient, many for each part of a GPU. */
  private static final int SCALING_BLOCKS = 4096;

  private CrossEntropyKernel() {}

  /**
   * Returns the sum over all rows whose class is not negative, recorded for backward; nothing where
   * libtorch's operations must do.
   */
  public static Optional<Tensor> sum(Tensor logits, Tensor classes) {
    long width = logits.size(1);
    boolean fits =
        logits.is_cuda()
            && (isHalf(logits) || ResidualKernels.isFloat(logits))
            && logits.stride(1) == 1
            && classes.is_contiguous()
            && width * logits.element_size() <= (long) MOST_BYTES * THREADS;
    return fits
        ? compiled(logits).map(compiled -> compiled.sum(logits, classes))
        : Optional.empty();
  }

  private static boolean isHalf(Tensor logits) {
    return logits.scalar_type().intern() == torch.ScalarType.BFloat16;
  }

  /**
   * Kernels for rows of one length.
   *
   * @param lanes elements that a thread reads at once
   */
  private record Compiled(Map<String, GpuKernel> kernels, int lanes) {

    Tensor sum(Tensor given, Tensor classes) {
      int width = Math.toIntExact(given.size(1));
      Tensor loss;
      Tensor gradient;
      try (var scope = TensorScope.open();
          var _ = new NoGradGuard()) {
        long rows = given.size(0);
        var device = ComputeDevice.of(given);
        // With the gaps between rows, so that one pass without gaps scales it.
        gradient = scope.handOut(device.empty(given.scalar_type(), rows, given.stride(0)));
        Tensor losses = device.empty(torch.ScalarType.Float, rows);
        kernel("cross_entropy")
            .launch(
                Math.toIntExact(rows),
                THREADS,
                given,
                classes,
                gradient,
                losses,
                width,
                given.stride(0));
        loss = scope.handOut(losses.sum());
      }
      AutogradFunction.record(
          List.of(given),
          List.of(loss),
          List.of(gradient),
          gradients -> {
            scale(gradient, gradients.getFirst());
            Tensor ofLogits = gradient.narrow(1, 0, width);
            if (fillsGaps(width, gradient.size(1))) {
              ZeroGaps.note(ofLogits);
            }
            return List.of(ofLogits);
          });
      return loss;
    }

    private GpuKernel kernel(String name) {
      return Objects.requireNonNull(kernels.get(name));
    }

    /** What a thread writes at the end of a row beyond its width is zero. */
    private boolean fillsGaps(long width, long stride) {
      return stride > width && Math.ceilDiv(width, lanes) * lanes == stride;
    }

    private void scale(Tensor gradient, Tensor factor) {
      if (!ResidualKernels.isFloat(factor)) {
        gradient.mul_(factor);
        return;
      }
      long blocks = Math.ceilDiv(gradient.numel(), (long) THREADS * lanes);
      kernel("scaled")
          .launch(
              (int) Math.min(blocks, SCALING_BLOCKS), THREADS, gradient, factor, gradient.numel());
    }
  }

  private static Optional<Compiled> compiled(Tensor logits) {
    int most = (int) (AT_ONCE / logits.element_size());
    // Rows with gaps may be read up to where the next one begins.
    boolean isAligned = logits.stride(0) >= Math.ceilDiv(logits.size(1), most) * (long) most;
    int lanes = isAligned ? KernelSource.lanes(most, logits.stride(0), logits) : 1;
    int chunks = Math.toIntExact(Math.ceilDiv(logits.size(1), (long) lanes * THREADS));
    return KernelSource.CROSS_ENTROPY
        .kernels(ComputeDevice.of(logits), isHalf(logits), new Shape(lanes, THREADS, 1, chunks))
        .map(kernels -> new Compiled(kernels, lanes));
  }
}
