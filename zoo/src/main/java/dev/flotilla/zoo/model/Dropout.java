package dev.flotilla.zoo.model;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.ForwardMode;
import org.bytedeco.pytorch.BoolOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Sets a fraction of numbers to zero in training and scales the others up (Srivastava et al.,
 * 2014).
 *
 * <p>On a CPU libtorch draws one number after the other and keeps them in the type of its input.
 * Here one draw of 64 bits decides four numbers, and a byte each is kept for backward. The
 * probability is a multiple of 2⁻¹⁵; what is left is scaled by exactly what was kept, so the mean
 * stays.
 */
final class Dropout {

  private static final int STEPS = 1 << 15;

  private Dropout() {}

  static Tensor apply(Tensor input, double probability, ForwardMode mode) {
    if (!mode.isTraining() || probability == 0) {
      return input;
    }
    if (!input.is_cpu()) {
      return torch.dropout(input, probability, true);
    }
    try (var scope = TensorScope.open()) {
      // A product with a number in place would round the number to 16 bits first.
      return scope.handOut(input.mul(kept(input, probability)).div_(left(probability)));
    }
  }

  /**
   * Returns the gradient of what went in, given that of what came out, with the random numbers of
   * that time; the same operations in the same order as libtorch's backward.
   */
  static Tensor backward(Tensor gradient, double probability) {
    if (probability == 0) {
      return gradient;
    }
    try (var scope = TensorScope.open()) {
      return scope.handOut(
          gradient.is_cpu()
              ? gradient.div(left(probability)).mul_(kept(gradient, probability))
              : backwardOfLibtorchs(gradient, probability));
    }
  }

  /** Its forward and backward kernels scale by numbers that differ in the last bit. */
  static Tensor backwardOfLibtorchs(Tensor gradient, double probability) {
    Tensor mask = torch.native_dropout(gradient, probability, new BoolOptional(true)).get1();
    return torch.native_dropout_backward(gradient, mask, 1 / (1 - probability));
  }

  private static long dropped(double probability) {
    return Math.round(probability * STEPS);
  }

  private static Scalar left(double probability) {
    return new Scalar((STEPS - dropped(probability)) / (double) STEPS);
  }

  private static Tensor kept(Tensor input, double probability) {
    long count = input.numel();
    var draws = Tensors.empty(torch.ScalarType.Long, (count + 3) / 4).random_();
    // Draws are not negative, so that one number in four would have a bit less: all do without it.
    var numbers = draws.view(torch.ScalarType.Short).bitwise_and_(new Scalar(STEPS - 1));
    return numbers.ge(new Scalar(dropped(probability))).narrow(0, 0, count).view(input.shape());
  }
}
