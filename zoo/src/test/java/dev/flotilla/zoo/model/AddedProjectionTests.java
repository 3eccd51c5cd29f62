package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.Autocast;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.Activations;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.Gradient;
import dev.flotilla.pass.BoundModel;
import java.util.List;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The gradients written by hand are to the bit those of libtorch's own backward. */
class AddedProjectionTests {

  private static final String INNER = "bert.encoder.layer.0.intermediate.dense";
  private static final String DENSE = "bert.encoder.layer.0.output.dense";

  private static BoundModel bert(Precision precision, boolean isFrozen) {
    var model = new BertTiny(null, 1, 40, 24, 1, 2, 56, 16, 0, 0);
    return new BoundModel(model, precision, 1, name -> isFrozen && name.startsWith(DENSE));
  }

  private static AddedProjection finalFunction(BoundModel model, boolean isGelu, double dropout) {
    var layer = Linear.byDefault(DENSE, 56, 24);
    return isGelu
        ? AddedProjection.ofGelu(Linear.byDefault(INNER, 24, 56), layer, model, dropout, null)
        : AddedProjection.of(layer, model, dropout, null);
  }

  private static Tensor numbers(torch.ScalarType type, long width) {
    return Tensors.empty(torch.ScalarType.Double, 3, 7, width).normal_().to(type);
  }

  private static Tensor leaf(torch.ScalarType type, long width) {
    return numbers(type, width).set_requires_grad(true);
  }

  private static void assertSame(Tensor ours, Tensor expected) {
    assertThat(ours.scalar_type().intern()).isEqualTo(expected.scalar_type().intern());
    assertThat(ours.equal(expected)).isTrue();
  }

  private static Tensor of(List<Gradient> gradients, Tensor tensor) {
    var found = gradients.stream().filter(g -> g.of().equals(tensor)).toList();
    assertThat(found).hasSize(1);
    return found.getFirst().value();
  }

  @ParameterizedTest
  @CsvSource({
    "FLOAT32, true, 0, false",
    "FLOAT32, true, 0.1, false",
    "FLOAT32, false, 0.1, false",
    "FLOAT32, true, 0.5, true",
    "FLOAT32, false, 0.1, true",
    "FLOAT32, true, 0.1, true",
    "FLOAT32, false, 0, true",
    "FLOAT32, true, 0, true",
    "FLOAT64, true, 0.1, false"
  })
  void theyEqualLibtorchs(Precision precision, boolean isGelu, double dropout, boolean isHalf) {
    try (var _ = TensorScope.open();
        var model = bert(precision, false)) {
      torch.manual_seed(5);
      var finalFunction = finalFunction(model, isGelu, dropout);
      var type = precision.scalarType();
      var half = isHalf ? torch.ScalarType.BFloat16 : null;
      Tensor y = leaf(half == null ? type : half, 56);
      Tensor x = leaf(type, 24);
      Tensor mask = Tensors.zeros(torch.ScalarType.Bool, 2);
      Tensor seed = numbers(type, 24);
      var body = Activations.of(y, x, mask);
      torch.manual_seed(6);
      Tensor sum;
      try (var _ = Autocast.like(half, ComputeDevice.CPU)) {
        sum = finalFunction.apply(body, ForwardMode.TRAIN).tensors().getFirst();
      }
      sum.mul(seed).sum().backward();
      torch.manual_seed(6);
      List<Gradient> ours;
      try (var _ = new NoGradGuard()) {
        ours = finalFunction.backward(body, List.of(seed, new Tensor()));
      }
      assertSame(of(ours, y), y.grad());
      assertSame(of(ours, x), x.grad());
      for (var kind : List.of(".weight", ".bias")) {
        var parameter = model.parameter(DENSE + kind);
        assertSame(of(ours, parameter), parameter.grad());
      }
    }
  }

  @Test
  void whatIsFrozenHasNoGradient() {
    try (var _ = TensorScope.open();
        var _ = new NoGradGuard();
        var model = bert(Precision.FLOAT32, true)) {
      var body =
          Activations.of(leaf(torch.ScalarType.Float, 56), numbers(torch.ScalarType.Float, 24));
      var gradients =
          finalFunction(model, true, 0)
              .backward(body, List.of(numbers(torch.ScalarType.Float, 24)));
      assertThat(gradients).hasSize(2);
    }
  }

  @Test
  void withoutAGradientNothingFlows() {
    try (var _ = TensorScope.open();
        var model = bert(Precision.FLOAT32, false)) {
      var body =
          Activations.of(leaf(torch.ScalarType.Float, 56), numbers(torch.ScalarType.Float, 24));
      assertThat(finalFunction(model, true, 0).backward(body, List.of(new Tensor()))).isEmpty();
    }
  }
}
