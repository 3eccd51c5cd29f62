package dev.flotilla.zoo.model;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.AutogradFunction;
import dev.flotilla.zoo.model.AddedNorm.Norm;
import dev.flotilla.zoo.model.AddedNorm.Result;
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

  private FusedLayerNorm() {}

  /**
   * Returns LayerNorm over the last axis, recorded for backward; nothing where libtorch's operation
   * must do.
   *
   * @param copies whether a copy in bf16 is wanted
   */
  public static Optional<Normalised> of(
      Tensor input, Tensor gamma, Tensor beta, double epsilon, boolean copies) {
    if (!ResidualKernels.take(input) || gamma.numel() != input.size(input.dim() - 1)) {
      return Optional.empty();
    }
    var norm = new Norm(gamma, beta, epsilon, true, copies);
    var result = normalised(input, norm);
    Tensor whole = result.whole();
    Tensor half = copies ? result.copy() : whole;
    record(input, norm, copies ? List.of(whole, half) : List.of(whole), result.make(), null);
    return Optional.of(new Normalised(whole, half));
  }

  /** Returns the norm of a sum that kernels take, which nothing is recorded of. */
  static Result normalised(Tensor sum, Norm norm) {
    try (var scope = TensorScope.open();
        var _ = new NoGradGuard()) {
      var result = AddedNorm.norm(sum, norm);
      scope.handOut(result.whole());
      scope.handOut(result.copy());
      scope.handOut(result.make());
      return result;
    }
  }

  /**
   * Makes outputs the norm of a sum.
   *
   * @param outputs what stands for the norm in float32, and its copy if there is one
   * @param make how the norm is made of the sum
   * @param link to who has made the sum, if the gradient of what was added is to be found as well
   */
  static void record(
      Tensor given, Norm norm, List<Tensor> outputs, Tensor make, @Nullable NormLink link) {
    // Saved without its graph, which would otherwise hold itself.
    Tensor sum = given.detach();
    AutogradFunction.record(
        List.of(given, norm.gamma(), norm.beta()),
        outputs,
        List.of(sum, make),
        gradients -> {
          Tensor ofCopy = gradients.size() > 1 ? gradients.get(1) : new Tensor();
          var type = link == null ? null : torch.ScalarType.BFloat16;
          var draws = link == null ? Draws.NONE : link.draws();
          var all = AddedNorm.ofNorm(gradients.getFirst(), ofCopy, sum, make, type, draws);
          if (link != null) {
            link.leave(all.sum(), all.added());
          }
          return List.of(all.sum(), all.gamma(), all.beta());
        });
  }
}
