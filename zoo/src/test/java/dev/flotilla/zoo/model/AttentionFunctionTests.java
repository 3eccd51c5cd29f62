package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.Gradient;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.BoolOptional;
import org.bytedeco.pytorch.DoubleOptional;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class AttentionFunctionTests {

  private static final int HEADS = 4;
  private static final AttentionFunction FUNCTION = new AttentionFunction(0, HEADS);

  /** Query, key, value, the hidden state, and no mask. */
  private static Activations input(torch.ScalarType type) {
    torch.manual_seed(3);
    List<Tensor> tensors = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      tensors.add(torch.randn(3, 24, 32).to(type).set_requires_grad(true));
    }
    tensors.add(torch.empty(0));
    return new Activations(tensors);
  }

  private static Tensor split(Tensor all) {
    return all.view(3, 24, HEADS, 8).transpose(1, 2);
  }

  private static Tensor plain(Activations input) {
    return torch
        .scaled_dot_product_attention(
            split(input.tensors().get(0)),
            split(input.tensors().get(1)),
            split(input.tensors().get(2)),
            new TensorOptional(),
            0,
            false,
            new DoubleOptional(),
            false)
        .transpose(1, 2)
        .reshape(3, 24, 32);
  }

  @ParameterizedTest
  @EnumSource(names = {"Float", "Double"})
  void hasTheBitsOfLibtorch(torch.ScalarType type) {
    try (var _ = TensorScope.open()) {
      var input = input(type);
      Tensor gradient = torch.randn(3, 24, 32).to(type);
      Tensor expected = plain(input);
      torch.backward(
          new TensorVector(expected),
          new TensorVector(gradient),
          new BoolOptional(),
          false,
          new TensorVector());

      assertThat(FUNCTION.suits(input, ForwardMode.TRAIN)).isTrue();
      try (var _ = new NoGradGuard()) {
        var run = FUNCTION.forward(input, ForwardMode.TRAIN);
        assertThat(torch.equal(run.outputs().tensors().getFirst(), expected)).isTrue();
        assertThat(torch.equal(FUNCTION.outputs(input, run.saved()).tensors().getFirst(), expected))
            .isTrue();
        Tensor ofHidden = torch.ones_like(gradient);
        var inputGradients =
            FUNCTION.backward(input, run.saved(), List.of(gradient, ofHidden, new Tensor()));
        for (int i = 0; i < 3; i++) {
          Tensor wanted = input.tensors().get(i);
          assertThat(torch.equal(of(inputGradients, wanted), wanted.grad()))
              .as("input %d", i)
              .isTrue();
        }
        assertThat(torch.equal(of(inputGradients, input.tensors().get(3)), ofHidden)).isTrue();
      }
    }
  }

  @SuppressWarnings("ReferenceEquality") // The gradient of this handle is wanted.
  private static Tensor of(List<Gradient> gradients, Tensor tensor) {
    return gradients.stream().filter(it -> it.of() == tensor).findFirst().orElseThrow().value();
  }

  @ParameterizedTest
  @EnumSource(names = "Float")
  void leavesMasksAndDropoutOnCpuToLibtorch(torch.ScalarType type) {
    try (var _ = TensorScope.open()) {
      var input = input(type);
      assertThat(new AttentionFunction(0.1, HEADS).suits(input, ForwardMode.TRAIN)).isFalse();
      List<Tensor> masked = new ArrayList<>(input.tensors().subList(0, 4));
      masked.add(torch.ones(3, 1, 1, 24));
      assertThat(FUNCTION.suits(new Activations(masked), ForwardMode.TRAIN)).isFalse();
    }
  }
}
