package dev.flotilla.zoo.model;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.ForwardMode;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Sets a share of numbers to zero in training and scales the others up (Srivastava et al., 2014).
 *
 * <p>On a CPU libtorch draws one number after the other and keeps them in the type of its input.
 * Here one draw of 64 bits decides four numbers, and a byte each is kept for backward. The share is
 * a multiple of 2⁻¹⁵; what is left is scaled by exactly what was kept, so the mean stays.
 */
final class Dropout {

  private static final int STEPS = 1 << 15;

  private Dropout() {}

  static Tensor apply(Tensor input, double share, ForwardMode mode) {
    if (!mode.isTraining() || share == 0) {
      return input;
    }
    if (!input.is_cpu()) {
      return torch.dropout(input, share, true);
    }
    try (var scope = TensorScope.open()) {
      long dropped = Math.round(share * STEPS);
      // A product with a number in place would round the number to 16 bits first.
      var left = new Scalar((STEPS - dropped) / (double) STEPS);
      return scope.handOut(input.mul(kept(input, dropped)).div_(left));
    }
  }

  private static Tensor kept(Tensor input, long dropped) {
    long count = input.numel();
    var draws = Tensors.empty(torch.ScalarType.Long, (count + 3) / 4).random_();
    // Draws are not negative, so that one number in four would have a bit less: all do without it.
    var numbers = draws.view(torch.ScalarType.Short).bitwise_and_(new Scalar(STEPS - 1));
    return numbers.ge(new Scalar(dropped)).narrow(0, 0, count).view(input.shape());
  }
}
