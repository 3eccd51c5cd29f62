package dev.flotilla.zoo.model;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.AutogradFunction;
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

  private static final int THREADS = 256;
  private static final double DRAWS = 0x1p32;

  private ResidualSum() {}

  /**
   * Returns x + dropout(added), recorded for backward, in the memory of what is added where both
   * have the same dtype; nothing where libtorch's operations must do.
   *
   * @param probability of dropping, 0 in evaluation
   */
  public static Optional<Tensor> of(Tensor added, Tensor x, double probability) {
    boolean fits = added.is_contiguous() && added.numel() == x.numel();
    return fits && takes(added.scalar_type(), x)
        ? Optional.of(sum(added, x, probability))
        : Optional.empty();
  }

  /** Tells whether {@link #of} would add something of this type to x. */
  public static boolean takes(torch.ScalarType type, Tensor x) {
    var kind = type.intern();
    boolean isKnown = kind == torch.ScalarType.Float || kind == torch.ScalarType.BFloat16;
    return isKnown
        && ResidualKernels.take(x)
        && kernels(kind, ResidualKernels.AT_ONCE, x).arePresent();
  }

  private static ResidualKernels kernels(torch.ScalarType type, int atOnce, Tensor x) {
    boolean isHalf = type == torch.ScalarType.BFloat16;
    return new ResidualKernels(ComputeDevice.of(x), isHalf, atOnce, THREADS, 1);
  }

  private static Tensor sum(Tensor added, Tensor x, double probability) {
    long seed = seed(x);
    var type = added.scalar_type().intern();
    Tensor sum;
    try (var scope = TensorScope.open();
        var _ = new NoGradGuard()) {
      boolean isInPlace = ResidualKernels.isFloat(added);
      sum = scope.handOut(isInPlace ? inPlaceOf(added) : torch.empty_like(x));
      var kernels = kernels(type, ResidualKernels.atOnce(x.numel(), added, x, sum), x);
      launch(kernels, "add_dropped", sum.numel(), probability, seed, added, x, sum);
    }
    AutogradFunction.record(
        List.of(added, x),
        List.of(sum),
        List.of(),
        gradients -> {
          Tensor gradient = gradients.getFirst().contiguous();
          return List.of(gradient(gradient, type, probability, seed), gradient);
        });
    return sum;
  }

  /** Returns the memory of a tensor, and lets a graph that has saved its values notice. */
  private static Tensor inPlaceOf(Tensor tensor) {
    Tensor memory = tensor.detach();
    memory.view(-1).narrow(0, 0, 0).zero_();
    return memory;
  }

  private static long seed(Tensor tensor) {
    try (var _ = TensorScope.open()) {
      return ComputeDevice.of(tensor).generator().current_seed();
    }
  }

  /**
   * Returns the gradient of what {@link #of} has added, with the generator's seed of that time.
   *
   * @param gradient of the sum
   * @param type of what was added
   */
  public static Tensor gradient(Tensor gradient, torch.ScalarType type, double probability) {
    return gradient(gradient, type.intern(), probability, seed(gradient));
  }

  private static Tensor gradient(
      Tensor gradient, torch.ScalarType type, double probability, long seed) {
    Tensor result = ComputeDevice.of(gradient).empty(type, gradient.shape());
    long count = gradient.numel();
    var kernels = kernels(type, ResidualKernels.atOnce(count, gradient, result), gradient);
    launch(kernels, "add_dropped_gradient", count, probability, seed, gradient, result);
    return result;
  }

  private static void launch(
      ResidualKernels kernels,
      String name,
      long count,
      double probability,
      long seed,
      Object... tensors) {
    long dropped = Math.min(Math.round(probability * DRAWS), (long) DRAWS - 1);
    List<Object> arguments = new ArrayList<>(List.of(tensors));
    arguments.add(count);
    arguments.add(seed);
    arguments.add((int) dropped);
    arguments.add((float) (1 / (1 - dropped / DRAWS)));
    long atOnce = (long) THREADS * ResidualKernels.AT_ONCE;
    kernels.launch(name, Math.toIntExact(Math.ceilDiv(count, atOnce)), arguments.toArray());
  }
}
