package dev.flotilla.strategy.compress;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.GpuKernel;
import dev.flotilla.memory.TensorScope;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * Momentum correction on a GPU in one kernel of our own, which notes large residuals on the way.
 *
 * <p>It reads g, u and v, with decay w, and writes u and v: as much as there is to move.
 */
final class FusedCorrection implements AutoCloseable {

  private static final int THREADS = 256;
  private static final int AT_ONCE = 4;
  private static final int MOST_BLOCKS = 1 << 14;

  private static final Map<ComputeDevice, Optional<GpuKernel>> KERNELS = new ConcurrentHashMap<>();

  private final GpuKernel kernel;
  private final Rule rule;
  private final DeviceField field;
  private final Tensor count;
  private Tensor indices;

  private FusedCorrection(GpuKernel kernel, Rule rule, DeviceField field) {
    this.kernel = kernel;
    this.rule = rule;
    this.field = field;
    try (var _ = TensorScope.open()) {
      var device = ComputeDevice.of(field.residual());
      count = TensorScope.keep(device.zeros(torch.ScalarType.Int, 1));
      indices = TensorScope.keep(device.empty(torch.ScalarType.Int, 0));
    }
  }

  /** Returns the pass over a field; nothing where the host cannot compile it. */
  static Optional<FusedCorrection> of(Rule rule, DeviceField field) {
    var device = ComputeDevice.of(field.residual());
    if (!device.isCuda()) {
      return Optional.empty();
    }
    return KERNELS
        .computeIfAbsent(device, FusedCorrection::compile)
        .map(kernel -> new FusedCorrection(kernel, rule, field));
  }

  private static Optional<GpuKernel> compile(ComputeDevice device) {
    String source = "correction.cu";
    var text = FusedCorrection.class.getResourceAsStream(source);
    return GpuKernel.compile(device, source, text, List.of(), List.of("correct"))
        .map(kernels -> kernels.get("correct"));
  }

  /** Makes room for so many indices. */
  void allocate(long room) {
    if (indices.numel() < room) {
      TensorScope.free(indices);
      try (var _ = TensorScope.open()) {
        var device = ComputeDevice.of(field.residual());
        indices = TensorScope.keep(device.empty(torch.ScalarType.Int, room));
      }
    }
  }

  /**
   * Runs the pass; the gradient is then of no further use.
   *
   * @param factor c, what the gradient is multiplied by
   * @param limit a size of residuals
   * @return the indices of larger ones in ascending order, in the current scope; null if there are
   *     more than there is room for
   */
  @Nullable Tensor apply(double factor, float limit) {
    double decay = field.commonDecay().orElse(0);
    if (field.commonDecay().isEmpty()) {
      field.decay(factor);
    }
    field.keepingOthers(() -> launch((float) factor, (float) decay, limit));
    try (var scope = TensorScope.open()) {
      long found = count.item_int();
      if (found > indices.numel()) {
        return null;
      }
      var sorted = indices.narrow(0, 0, found).sort(0, false).get0().to(torch.ScalarType.Long);
      return scope.handOut(field.others().numel() == 0 ? sorted : still(sorted, limit));
    }
  }

  private void launch(float factor, float decay, float limit) {
    count.zero_();
    int length = Math.toIntExact(field.residual().numel());
    int blocks = Math.ceilDiv(length, THREADS * AT_ONCE);
    float momentum = (float) rule.momentum();
    kernel.launch(
        Math.clamp(blocks, 1, MOST_BLOCKS),
        THREADS,
        field.gradient(),
        field.velocity(),
        field.residual(),
        field.weight(),
        length,
        factor,
        decay,
        momentum,
        rule.nesterov() ? 1f : 0f,
        rule.nesterov() ? momentum : 1f,
        limit,
        count,
        (int) indices.numel(),
        indices);
  }

  /** Small parameters in between have no residuals any more. */
  private Tensor still(Tensor found, float limit) {
    var isLarge = field.residual().index_select(0, found).abs().gt(new Scalar((double) limit));
    return found.masked_select(isLarge);
  }

  @Override
  public void close() {
    TensorScope.free(count);
    TensorScope.free(indices);
  }
}
