package dev.flotilla.zoo.model;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.GpuKernel;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.AutogradFunction;
import dev.flotilla.zoo.model.KernelSource.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.bytedeco.pytorch.LongOptional;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Σ −log softmax(z)[c] of logits in bf16 or float32 on a GPU in one pass over memory, and its
 * gradient in another.
 *
 * <p>The gradient takes the memory of the logits if nobody else holds that when backward comes:
 * neither a handle, nor a view, nor a node of the graph.
 */
public final class CrossEntropyKernel {

  /** Bytes that a thread reads at once where rows begin at a multiple of them. */
  private static final int AT_ONCE = 16;

  private static final int THREADS = 512;

  /** Bytes of a row that a thread takes at most: more would need more registers than it has. */
  private static final int MOST_BYTES = 256;

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
      Tensor loss;
      Tensor made;
      try (var scope = TensorScope.open();
          var _ = new NoGradGuard()) {
        long rows = given.size(0);
        var device = ComputeDevice.of(given);
        made = scope.handOut(device.empty(torch.ScalarType.Float, rows, 2));
        Tensor losses = device.empty(torch.ScalarType.Float, rows);
        launch("cross_entropy", given, given, classes, losses, made);
        loss = scope.handOut(losses.sum());
      }
      Tensor logits = given.detach();
      Tensor of = new Tensor(classes);
      AutogradFunction.record(
          List.of(given),
          List.of(loss),
          List.of(logits, of, made),
          gradients -> List.of(gradient(logits, of, made, gradients.getFirst())));
      return loss;
    }

    private Tensor gradient(Tensor logits, Tensor classes, Tensor made, Tensor factor) {
      long rows = logits.size(0);
      long width = logits.size(1);
      long stride = logits.stride(0);
      // With the gaps between rows, so that a product may take them along.
      Tensor whole =
          isHeldAlone(logits)
              ? logits.as_strided(
                  new long[] {rows, stride},
                  new long[] {stride, 1},
                  new LongOptional(logits.storage_offset()))
              : ComputeDevice.of(logits).empty(logits.scalar_type(), rows, stride);
      boolean isNumber = ResidualKernels.isFloat(factor);
      Object by = isNumber ? factor : GpuKernel.ABSENT;
      launch("cross_entropy_gradient", logits, logits, classes, made, by, whole);
      if (!isNumber) {
        whole.mul_(factor);
      }
      Tensor ofLogits = whole.narrow(1, 0, width);
      if (fillsGaps(width, stride)) {
        ZeroGaps.note(ofLogits);
      }
      return ofLogits;
    }

    /** Starts a kernel with a block for each row of the logits. */
    private void launch(String name, Tensor logits, Object... tensors) {
      List<Object> arguments = new ArrayList<>(Arrays.asList(tensors));
      arguments.add(Math.toIntExact(logits.size(1)));
      arguments.add(logits.stride(0));
      kernel(name).launch(Math.toIntExact(logits.size(0)), THREADS, arguments.toArray());
    }

    private GpuKernel kernel(String name) {
      return Objects.requireNonNull(kernels.get(name));
    }

    /** What a thread writes at the end of a row beyond its width is zero. */
    private boolean fillsGaps(long width, long stride) {
      return stride > width && Math.ceilDiv(width, lanes) * lanes == stride;
    }
  }

  /** Tells whether a tensor is all that its memory is of use to, up to the end of its last row. */
  static boolean isHeldAlone(Tensor rows) {
    long end = rows.storage_offset() + rows.size(0) * rows.stride(0);
    var storage = rows.storage();
    return storage.use_count() == 1 && end * rows.element_size() <= storage.nbytes();
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
