package dev.flotilla.zoo.model;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.GpuKernel;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.AutogradFunction;
import dev.flotilla.zoo.model.ColumnKernels.Summed;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * x + dropout(p) on a GPU in one pass over memory, without a mask. For any transformer whose
 * residual stream is float32.
 *
 * <p>What dropout keeps is a function of the generator's seed and the place of a number, so one
 * seed serves one sum: a part of a model draws its seed anew before it runs.
 */
public final class ResidualSum {

  private static final int THREADS = KernelSource.THREADS;
  private static final double DRAWS = 0x1p32;

  private ResidualSum() {}

  /**
   * Returns x + dropout(added), recorded for backward, in the memory of what is added where both
   * have the same dtype; nothing where libtorch's operations must do.
   *
   * @param probability of dropping, 0 in evaluation
   */
  public static Optional<Tensor> of(Tensor added, Tensor x, double probability) {
    return of(added, new Tensor(), x, probability);
  }

  /**
   * Returns x + dropout(added + offset), of which the offset's gradient is not recorded.
   *
   * @param offset over the last axis, float32; undefined for none
   */
  static Optional<Tensor> of(Tensor added, Tensor offset, Tensor x, double probability) {
    boolean fits = added.is_contiguous() && added.numel() == x.numel() && added.dim() == x.dim();
    return fits && takes(added.scalar_type(), x)
        ? Optional.of(sum(added, offset, x, probability))
        : Optional.empty();
  }

  /** Tells whether {@link #of} would add something of this type to x. */
  public static boolean takes(torch.ScalarType type, Tensor x) {
    var kind = type.intern();
    boolean isKnown = kind == torch.ScalarType.Float || kind == torch.ScalarType.BFloat16;
    return isKnown
        && ResidualKernels.take(x)
        && kernels(kind, ResidualKernels.AT_ONCE, x).arePresent()
        && ColumnKernels.arePresent(ComputeDevice.of(x), kind, x.size(x.dim() - 1));
  }

  private static ResidualKernels kernels(torch.ScalarType type, int atOnce, Tensor x) {
    boolean isHalf = type == torch.ScalarType.BFloat16;
    return new ResidualKernels(ComputeDevice.of(x), isHalf, atOnce, THREADS, 1);
  }

  private static Tensor sum(Tensor added, Tensor offset, Tensor x, double probability) {
    long seed = seed(x);
    var type = added.scalar_type().intern();
    Tensor sum;
    try (var scope = TensorScope.open();
        var _ = new NoGradGuard()) {
      boolean isInPlace = ResidualKernels.isFloat(added);
      sum = scope.handOut(isInPlace ? inPlaceOf(added) : torch.empty_like(x));
      long count = sum.numel();
      int width = Math.toIntExact(x.size(x.dim() - 1));
      boolean hasOffset = offset.defined();
      // With an offset, what is read at once must lie in one row.
      int lanes =
          hasOffset
              ? KernelSource.lanes(ResidualKernels.AT_ONCE, width, added, x, sum, offset)
              : KernelSource.lanes(ResidualKernels.AT_ONCE, count, added, x, sum);
      List<Object> arguments = new ArrayList<>();
      arguments.add(added);
      arguments.add(hasOffset ? offset : GpuKernel.ABSENT);
      arguments.addAll(List.of(width, x, sum, count));
      arguments.addAll(draws(probability, seed));
      long atOnce = (long) THREADS * ResidualKernels.AT_ONCE;
      int blocks = Math.toIntExact(Math.ceilDiv(count, atOnce));
      kernels(type, lanes, x).launch("add_dropped", blocks, arguments.toArray());
    }
    AutogradFunction.record(
        List.of(added, x),
        List.of(sum),
        List.of(),
        gradients -> {
          Tensor gradient = gradients.getFirst().contiguous();
          return List.of(gradient(gradient, type, probability, seed).whole(), gradient);
        });
    return sum;
  }

  /** Returns the memory of a tensor, and lets a graph that has saved its values notice. */
  private static Tensor inPlaceOf(Tensor tensor) {
    Tensor memory = tensor.detach();
    memory.view(-1).narrow(0, 0, 0).zero_();
    return memory;
  }

  /** Returns what a sum on the device of a tensor would be drawn from now. */
  static long seed(Tensor tensor) {
    try (var _ = TensorScope.open()) {
      return ComputeDevice.of(tensor).generator().current_seed();
    }
  }

  /**
   * Returns the gradient of what {@link #of} has added, with the sums of its columns.
   *
   * @param gradient of the sum, without gaps
   * @param type of what was added
   * @param seed the generator's at that time
   */
  static Summed gradient(Tensor gradient, torch.ScalarType type, double probability, long seed) {
    return ColumnKernels.droppedGradient(gradient, type.intern(), draws(probability, seed));
  }

  private static List<Object> draws(double probability, long seed) {
    long dropped = Math.min(Math.round(probability * DRAWS), (long) DRAWS - 1);
    return List.of(seed, (int) dropped, (float) (1 / (1 - dropped / DRAWS)));
  }
}
