package dev.flotilla.zoo.model;

import dev.flotilla.memory.TensorScope;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.ScalarTypeOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/**
 * Cross entropy over a large vocabulary with little memory: Σ −log softmax(z)[c].
 *
 * <p>Where libtorch's own, which computes in float32, has five tensors of the size of the logits in
 * float32 and seven times their bytes in 16 bits, {@link CrossEntropyKernel} has the logits alone,
 * or another one if somebody else holds these. Without it the gradient, softmax(z) − onehot(c), is
 * made along with the loss, some rows at a time, and handed to autograd as that of ⟨z, G⟩: two of
 * them.
 */
final class LeanCrossEntropy {

  private static final long ROWS = 2048;
  private static final long MANY = 1024;
  private static final long SUM = 2;
  private static final long IGNORED = -100;

  private LeanCrossEntropy() {}

  /**
   * Tells whether it should take these logits: with few classes there is nothing to gain. With fp16
   * gradients are scaled up before they are rounded, which a gradient that is made in advance
   * misses.
   */
  static boolean suits(Tensor logits) {
    return logits.is_cuda()
        && logits.requires_grad()
        && logits.size(1) >= MANY
        && (logits.scalar_type().intern() == torch.ScalarType.BFloat16
            || ResidualKernels.isFloat(logits))
        && logits.numel() <= Integer.MAX_VALUE;
  }

  /** Returns the sum over all rows whose class is not −100. */
  static Tensor sum(Tensor logits, Tensor classes) {
    return CrossEntropyKernel.sum(logits, classes)
        .orElseGet(() -> byLibtorch(logits.contiguous(), classes));
  }

  private static Tensor byLibtorch(Tensor logits, Tensor classes) {
    try (var scope = TensorScope.open()) {
      Tensor gradient = torch.empty_like(logits);
      Tensor loss = fill(logits.detach(), classes, gradient);
      Tensor carrier = logits.view(-1).dot(gradient.view(-1));
      return scope.handOut(loss.add(carrier.sub(carrier.detach())));
    }
  }

  /** Writes the gradient, and returns the loss. */
  private static Tensor fill(Tensor logits, Tensor classes, Tensor gradient) {
    try (var scope = TensorScope.open();
        var _ = new NoGradGuard()) {
      Tensor loss = logits.new_zeros(1).sum().to(computing(logits));
      for (long from = 0; from < logits.size(0); from += ROWS) {
        try (var _ = TensorScope.open()) {
          long rows = Math.min(ROWS, logits.size(0) - from);
          Tensor some = classes.narrow(0, from, rows);
          Tensor logs =
              logits
                  .narrow(0, from, rows)
                  .log_softmax(1, new ScalarTypeOptional(computing(logits)));
          loss.add_(torch.nll_loss(logs, some, new TensorOptional(), SUM, IGNORED));
          gradient.narrow(0, from, rows).copy_(lessOneHot(logs.exp_(), some));
        }
      }
      return scope.handOut(loss);
    }
  }

  private static Tensor lessOneHot(Tensor probabilities, Tensor classes) {
    Tensor indices = classes.clamp_min(new Scalar(0)).unsqueeze(1);
    probabilities.scatter_(1, indices, probabilities.gather(1, indices).sub(new Scalar(1.0)));
    return probabilities.mul_(classes.ge(new Scalar(0)).unsqueeze(1));
  }

  private static torch.ScalarType computing(Tensor logits) {
    return logits.scalar_type().intern() == torch.ScalarType.Double
        ? torch.ScalarType.Double
        : torch.ScalarType.Float;
  }
}
