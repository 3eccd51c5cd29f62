package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.ForwardMode;
import org.bytedeco.pytorch.BoolOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DropoutTests {

  /** 0.1 is not a multiple of 2⁻¹⁵: what is drawn is the next one, and the rest is scaled by it. */
  private static final double SHARE = 3277 / 32768.0;

  @ParameterizedTest
  @CsvSource({"Double", "Float", "BFloat16", "Half"})
  void whatIsLeftIsScaledByExactlyWhatWasKept(torch.ScalarType type) {
    try (var _ = TensorScope.open()) {
      torch.manual_seed(3);
      Tensor input =
          Tensors.empty(torch.ScalarType.Double, 100_000)
              .normal_()
              .to(type)
              .set_requires_grad(true);
      Tensor output = Dropout.apply(input, 0.1, ForwardMode.TRAIN);
      output.sum().backward();
      Tensor kept = output.ne(new Scalar(0));
      var left = new Scalar(1 - SHARE);
      Tensor expected = input.detach().to(torch.ScalarType.Double).div(left).to(type).mul(kept);
      assertThat(output.detach().equal(expected)).isTrue();
      Tensor slope = kept.to(torch.ScalarType.Double).div(left).to(type);
      assertThat(input.grad().equal(slope)).isTrue();
      double fraction = 1 - kept.to(torch.ScalarType.Double).mean().item_double();
      assertThat(fraction).isCloseTo(0.1, within(0.005));
    }
  }

  /** A gradient that scaling makes infinite is not a number where it was dropped, in both ways. */
  @ParameterizedTest
  @CsvSource({"Double, 1e300", "Float, 3.3e38", "BFloat16, 3e38", "Half, 60000"})
  void itsGradientIsLibtorchs(torch.ScalarType type, double large) {
    try (var _ = TensorScope.open()) {
      Tensor input = Tensors.zeros(type, 1000).set_requires_grad(true);
      Tensor gradient = Tensors.empty(torch.ScalarType.Double, 1000).normal_().to(type);
      gradient.narrow(0, 0, 500).fill_(new Scalar(large));
      torch.manual_seed(8);
      Dropout.apply(input, 0.15, ForwardMode.TRAIN).mul(gradient).sum().backward();
      torch.manual_seed(8);
      assertSame(Dropout.backward(gradient, 0.15), input.grad());
    }
  }

  /** The way that is taken on a GPU; libtorch has the operator for both. */
  @ParameterizedTest
  @CsvSource({"0.1", "0.15", "0.42", "0.5"})
  void theGradientOfLibtorchsOwnIsItsOwn(double fraction) {
    try (var _ = TensorScope.open()) {
      Tensor input = Tensors.zeros(torch.ScalarType.Float, 1000).set_requires_grad(true);
      Tensor gradient = Tensors.empty(torch.ScalarType.Float, 1000).normal_();
      torch.manual_seed(8);
      torch
          .native_dropout(input, fraction, new BoolOptional(true))
          .get0()
          .mul(gradient)
          .sum()
          .backward();
      torch.manual_seed(8);
      assertSame(Dropout.backwardOfLibtorchs(gradient, fraction), input.grad());
    }
  }

  private static void assertSame(Tensor ours, Tensor expected) {
    // What is not a number equals nothing, but is in the same places.
    assertThat(ours.isnan().equal(expected.isnan())).isTrue();
    assertThat(ours.nan_to_num().equal(expected.nan_to_num())).isTrue();
  }
}
