package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.ForwardMode;
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
      double share = 1 - kept.to(torch.ScalarType.Double).mean().item_double();
      assertThat(share).isCloseTo(0.1, within(0.005));
    }
  }
}
