package dev.flotilla.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.FunctionPostHook;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.junit.jupiter.api.Test;

/** x w and x + w, with gradients by hand, against libtorch's own. */
class AutogradFunctionTests {

  private static Tensor numbers(float... values) {
    return Tensors.ofFloats(values).set_requires_grad(true);
  }

  private static List<Tensor> productAndSum(Tensor x, Tensor w, List<List<Boolean>> seen) {
    Tensor product;
    Tensor sum;
    try (var scope = TensorScope.open();
        var _ = new NoGradGuard()) {
      product = scope.handOut(x.mul(w));
      sum = scope.handOut(x.add(w));
    }
    Tensor savedX = x.detach();
    Tensor savedW = w.detach();
    AutogradFunction.record(
        List.of(x, w),
        List.of(product, sum),
        List.of(savedX, savedW),
        gradients -> {
          seen.add(gradients.stream().map(Tensor::defined).toList());
          Tensor ofProduct = orZero(gradients.get(0), savedX);
          Tensor ofSum = orZero(gradients.get(1), savedX);
          return List.of(
              ofProduct.mul(savedW).add(ofSum),
              w.requires_grad() ? ofProduct.mul(savedX).add(ofSum) : new Tensor());
        });
    return List.of(product, sum);
  }

  private static Tensor orZero(Tensor gradient, Tensor like) {
    return gradient.defined() ? gradient : like.mul(new Scalar(0.0));
  }

  private static float[] gradient(Tensor of) {
    return Tensors.toFloats(of.grad());
  }

  @Test
  void gradientsAreThoseOfItsBackward() {
    try (var _ = TensorScope.open()) {
      Tensor x = numbers(1, 2, 3);
      Tensor w = numbers(4, 5, 6);
      List<List<Boolean>> seen = new ArrayList<>();
      // Not a leaf, so that the gradient goes on behind it.
      var outputs = productAndSum(x.mul(new Scalar(2.0)), w, seen);
      outputs.get(0).pow(new Scalar(2.0)).sum().add(outputs.get(1).sum()).backward();
      assertThat(seen).containsExactly(List.of(true, true));
      // L = Σ (2 x w)² + Σ (2 x + w): 8 x w² + 2 and 8 x² w + 1.
      assertThat(gradient(x)).containsExactly(8 * 16 + 2, 8 * 2 * 25 + 2, 8 * 3 * 36 + 2);
      assertThat(gradient(w)).containsExactly(8 * 4 + 1, 8 * 4 * 5 + 1, 8 * 9 * 6 + 1);
    }
  }

  private static Tensor identity(Tensor x) {
    Tensor output;
    try (var scope = TensorScope.open();
        var _ = new NoGradGuard()) {
      output = scope.handOut(x.clone());
    }
    AutogradFunction.record(List.of(x), List.of(output), List.of(), gradients -> gradients);
    return output;
  }

  @Test
  void severalFunctionsOfAParameterAddUp() {
    try (var _ = TensorScope.open()) {
      Tensor x = numbers(1, 2);
      Tensor other = numbers(5, 6);
      // Libtorch gives both terms of a sum the same tensor as their gradient.
      identity(x).add(identity(other)).add(identity(x)).sum().backward();
      assertThat(gradient(x)).containsExactly(2, 2);
      assertThat(gradient(other)).containsExactly(1, 1);
    }
  }

  @Test
  void whoWaitsForAParameterHearsOfItsGradient() {
    try (var _ = TensorScope.open()) {
      AutogradFunction.watchLeaves();
      Tensor x = numbers(1, 2);
      List<Boolean> isThere = new ArrayList<>();
      var adding = x.view_as(x).grad_fn().next_edge(0).function();
      var hook =
          new FunctionPostHook() {
            @Override
            public TensorVector apply(TensorVector outputs, TensorVector inputs) {
              isThere.add(x.grad().defined());
              return outputs;
            }
          };
      long key = adding.add_post_hook(hook);
      identity(x).sum().backward();
      adding.del_post_hook(key);
      assertThat(isThere).containsExactly(true);
    }
  }

  @Test
  void anOutputThatNobodyUsedHasNoGradient() {
    try (var _ = TensorScope.open()) {
      Tensor x = numbers(1, 2);
      Tensor w = numbers(3, 4);
      List<List<Boolean>> seen = new ArrayList<>();
      productAndSum(x, w, seen).get(1).sum().backward();
      assertThat(seen).containsExactly(List.of(false, true));
      assertThat(gradient(x)).containsExactly(1, 1);
    }
  }

  @Test
  void anInputThatIsNotTrainedGetsNone() {
    try (var _ = TensorScope.open()) {
      Tensor x = numbers(1, 2);
      Tensor w = Tensors.ofFloats(3, 4);
      productAndSum(x, w, new ArrayList<>()).get(0).sum().backward();
      assertThat(gradient(x)).containsExactly(3, 4);
      assertThat(w.grad().defined()).isFalse();
    }
  }

  @Test
  void gradientsOfSeveralUsesAddUp() {
    try (var _ = TensorScope.open()) {
      Tensor x = numbers(2);
      Tensor w = numbers(3);
      Tensor first = productAndSum(x, w, new ArrayList<>()).get(0);
      Tensor second = productAndSum(first, x, new ArrayList<>()).get(0);
      second.sum().backward(); // x² w
      assertThat(gradient(x)).containsExactly(12);
      assertThat(gradient(w)).containsExactly(4);
    }
  }

  @Test
  void withoutAGraphNothingIsRecorded() {
    try (var _ = TensorScope.open();
        var _ = new NoGradGuard()) {
      var outputs = productAndSum(numbers(1), numbers(2), new ArrayList<>());
      assertThat(outputs).noneMatch(Tensor::requires_grad);
    }
  }

  @Test
  void aFailureComesOutOfBackward() {
    try (var _ = TensorScope.open()) {
      Tensor x = numbers(1);
      Tensor y;
      try (var scope = TensorScope.open();
          var _ = new NoGradGuard()) {
        y = scope.handOut(x.add(x));
      }
      AutogradFunction.record(
          List.of(x),
          List.of(y),
          List.of(),
          _ -> {
            throw new IllegalStateException("no gradient today");
          });
      assertThatThrownBy(() -> y.sum().backward()).hasMessageContaining("no gradient today");
    }
  }

  @Test
  void aGraphThatWasGivenUpIsNotRunBackward() {
    try (var _ = TensorScope.open()) {
      var outputs = productAndSum(numbers(1), numbers(2), new ArrayList<>());
      AutogradFunction.abandon();
      assertThatThrownBy(() -> outputs.get(0).sum().backward()).hasMessageContaining("given up");
    }
  }

  @Test
  void whatWasSavedIsFreedByBackwardOrWhenTheGraphIsGivenUp() {
    List<Tensor> saved = new ArrayList<>();
    try (var _ = TensorScope.open()) {
      saving(numbers(1), saved).sum().backward();
      saving(numbers(2), saved);
      assertThat(saved).noneMatch(tensor -> tensor.isNull());
    }
    assertThat(saved.get(0).isNull()).isTrue();
    assertThat(saved.get(1).isNull()).isFalse();
    try (var _ = TensorScope.open();
        var _ = AutogradFunction.dropped()) {
      saving(numbers(3), saved);
    }
    assertThat(saved.get(1).isNull()).isFalse();
    assertThat(saved.get(2).isNull()).isTrue();
    AutogradFunction.abandon();
    assertThat(saved.get(1).isNull()).isTrue();
  }

  @Test
  void whatItsLastFunctionHasGivenIsFreedWhenBackwardHasEnded() {
    try (var _ = TensorScope.open()) {
      Tensor x = numbers(1);
      Tensor given = Tensors.ofFloats(5);
      Tensor y;
      try (var scope = TensorScope.open();
          var _ = new NoGradGuard()) {
        y = scope.handOut(x.add(x));
      }
      AutogradFunction.record(
          List.of(x.mul(new Scalar(2.0))), List.of(y), List.of(), _ -> List.of(given));
      y.backward();
      AutogradFunction.backwardEnded();
      assertThat(gradient(x)).containsExactly(10);
      assertThat(given.use_count()).isEqualTo(1);
    }
  }

  private static Tensor saving(Tensor x, List<Tensor> saved) {
    Tensor y;
    try (var scope = TensorScope.open();
        var _ = new NoGradGuard()) {
      y = scope.handOut(x.add(x));
    }
    Tensor seen = x.detach();
    saved.add(seen);
    AutogradFunction.record(List.of(x), List.of(y), List.of(seen), List::copyOf);
    return y;
  }
}
