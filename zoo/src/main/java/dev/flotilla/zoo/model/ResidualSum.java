package dev.flotilla.zoo.model;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.AutogradFunction;
import dev.flotilla.zoo.model.AddedNorm.Addition;
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

  private ResidualSum() {}

  /**
   * Returns x + dropout(added), recorded for backward, in the memory of what is added where both
   * have the same dtype; nothing where libtorch's operations must do.
   *
   * @param probability of dropping, 0 in evaluation
   */
  public static Optional<Tensor> of(Tensor added, Tensor x, double probability) {
    boolean fits = added.is_contiguous() && added.numel() == x.numel() && added.dim() == x.dim();
    return fits && takes(added.scalar_type(), x)
        ? Optional.of(sum(added, x, probability))
        : Optional.empty();
  }

  /** Tells whether {@link #of} would add something of this type to x. */
  public static boolean takes(torch.ScalarType type, Tensor x) {
    var kind = type.intern();
    boolean isKnown = kind == torch.ScalarType.Float || kind == torch.ScalarType.BFloat16;
    return isKnown && ResidualKernels.take(x);
  }

  private static Tensor sum(Tensor added, Tensor x, double probability) {
    var draws = Draws.now(x, probability);
    var type = added.scalar_type().intern();
    Tensor sum;
    try (var scope = TensorScope.open();
        var _ = new NoGradGuard()) {
      sum = scope.handOut(ResidualKernels.isFloat(added) ? inPlaceOf(added) : torch.empty_like(x));
      AddedNorm.sum(new Addition(added, new Tensor(), x, new Tensor(), draws), sum, null);
    }
    AutogradFunction.record(
        List.of(added, x),
        List.of(sum),
        List.of(),
        gradients -> {
          Tensor gradient = gradients.getFirst().contiguous();
          return List.of(AddedNorm.ofSum(gradient, type, draws).whole(), gradient);
        });
    return sum;
  }

  /** Returns the memory of a tensor, and lets a graph that has saved its values notice. */
  private static Tensor inPlaceOf(Tensor tensor) {
    Tensor memory = tensor.detach();
    memory.view(-1).narrow(0, 0, 0).zero_();
    return memory;
  }
}
