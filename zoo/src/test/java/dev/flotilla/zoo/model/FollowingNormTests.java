package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;

/** A stream that is kept as the sum before its norm. */
class FollowingNormTests {

  private static final long ROWS = 6;
  private static final long WIDTH = 10;

  private static Tensor random(long... shape) {
    return Tensors.empty(torch.ScalarType.Float, shape).normal_();
  }

  @Test
  void isMadeWholeWithItsGradient() {
    try (var _ = TensorScope.open()) {
      Tensor sum = random(2, 3, WIDTH);
      Tensor gamma = random(WIDTH);
      Tensor beta = random(WIDTH);
      Tensor flat = sum.view(ROWS, WIDTH);
      Tensor means = flat.sum(1).div(new Scalar((double) WIDTH));
      Tensor apart = flat.sub(means.unsqueeze(1));
      Tensor variance = apart.mul(apart).sum(1).div(new Scalar((double) WIDTH));
      Tensor make = torch.cat(new TensorVector(gamma, beta, means, variance.rsqrt()), 0);
      Tensor stream = sum.detach().set_requires_grad(true);
      Tensor whole = FollowingNorm.whole(stream, make);
      Tensor exact =
          torch.layer_norm(
              sum,
              new long[] {WIDTH},
              new TensorOptional(gamma),
              new TensorOptional(beta),
              0,
              true);
      assertThat(whole.sub(exact).abs().max().item_float()).isLessThan(1e-5f);
      Tensor gradient = random(2, 3, WIDTH);
      whole.mul(gradient).sum().backward();
      assertThat(stream.grad().equal(gradient)).isTrue();
    }
  }

  @Test
  void isItselfWhereNothingMakesIt() {
    try (var _ = TensorScope.open()) {
      Tensor stream = random(2, 3, WIDTH);
      assertThat(FollowingNorm.whole(stream, new Tensor())).isSameAs(stream);
    }
  }
}
