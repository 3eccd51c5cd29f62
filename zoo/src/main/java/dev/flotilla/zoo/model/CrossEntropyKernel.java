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

/** Σ −log softmax(z)[c] of logits in bf16 on a GPU, with its gradient, in one pass over memory. */
public final class CrossEntropyKernel {

  private static final int LANES = 8;
  private static final int THREADS = 512;

  /** Wider rows need more registers than a thread has. */
  private static final int MOST_CHUNKS = 16;

  private CrossEntropyKernel() {}

  /**
   * Returns the sum over all rows whose class is not negative, recorded for backward; nothing where
   * libtorch's operations must do.
   */
  public static Optional<Tensor> sum(Tensor logits, Tensor classes) {
    long width = logits.size(1);
    boolean fits =
        logits.is_cuda()
            && logits.scalar_type().intern() == torch.ScalarType.BFloat16
            && logits.stride(1) == 1
            && classes.is_contiguous()
            && width <= (long) LANES * THREADS * MOST_CHUNKS;
    return fits ? kernels(logits).map(kernels -> sum(kernels, logits, classes)) : Optional.empty();
  }

  private static Optional<Map<String, GpuKernel>> kernels(Tensor logits) {
    // Rows with gaps may be read up to where the next one begins.
    boolean isAligned = logits.stride(0) >= Math.ceilDiv(logits.size(1), LANES) * (long) LANES;
    int lanes = isAligned ? KernelSource.lanes(LANES, logits.stride(0), logits) : 1;
    long chunks = Math.ceilDiv(logits.size(1), (long) lanes * THREADS);
    return chunks > (long) MOST_CHUNKS * LANES
        ? Optional.empty()
        : KernelSource.CROSS_ENTROPY.kernels(
            ComputeDevice.of(logits), true, new Shape(lanes, THREADS, 1, (int) chunks));
  }

  private static Tensor sum(Map<String, GpuKernel> kernels, Tensor given, Tensor classes) {
    int width = Math.toIntExact(given.size(1));
    Tensor loss;
    Tensor gradient;
    try (var scope = TensorScope.open();
        var _ = new NoGradGuard()) {
      long rows = given.size(0);
      var device = ComputeDevice.of(given);
      // With the gaps between rows, so that one pass without gaps scales it.
      gradient = scope.handOut(device.empty(torch.ScalarType.BFloat16, rows, given.stride(0)));
      Tensor losses = device.empty(torch.ScalarType.Float, rows);
      Objects.requireNonNull(kernels.get("cross_entropy"))
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
        gradients -> List.of(gradient.mul_(gradients.getFirst()).narrow(1, 0, width)));
    return loss;
  }
}
