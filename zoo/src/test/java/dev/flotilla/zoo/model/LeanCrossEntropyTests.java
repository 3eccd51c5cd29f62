package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.function.BinaryOperator;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;

class LeanCrossEntropyTests {

  private static final int ROWS = 5000; // three rounds, the last one shorter
  private static final int CLASSES = 11;

  /** Loss and gradient, of logits with some rows that do not count. */
  private record Outcome(double loss, Tensor gradient) {}

  private static Outcome of(torch.ScalarType type, BinaryOperator<Tensor> entropy) {
    Tensor logits = logits().to(type).set_requires_grad(true);
    Tensor loss = entropy.apply(logits, classes());
    loss.backward();
    return new Outcome(loss.item_double(), logits.grad());
  }

  private static Tensor logits() {
    return torch
        .arange(new Scalar((long) ROWS * CLASSES))
        .to(torch.ScalarType.Double)
        .mul(new Scalar(0.7))
        .sin()
        .mul(new Scalar(4.0))
        .view(ROWS, CLASSES);
  }

  private static Tensor classes() {
    var classes = new long[ROWS];
    for (int i = 0; i < ROWS; i++) {
      classes[i] = i % 7 == 3 ? -100 : i % CLASSES;
    }
    return Tensors.ofLongs(classes);
  }

  private static Tensor plain(Tensor logits, Tensor classes) {
    return torch.cross_entropy_loss(logits, classes, new TensorOptional(), 2, -100, 0);
  }

  @Test
  void isCrossEntropy() {
    try (var _ = TensorScope.open()) {
      var lean = of(torch.ScalarType.Double, LeanCrossEntropy::sum);
      var plain = of(torch.ScalarType.Double, LeanCrossEntropyTests::plain);
      assertThat(lean.loss()).isCloseTo(plain.loss(), org.assertj.core.data.Offset.offset(1e-8));
      assertThat(lean.gradient().sub(plain.gradient()).abs().max().item_double()).isLessThan(1e-14);
    }
  }

  @Test
  void roundsOnceInSixteenBits() {
    try (var _ = TensorScope.open()) {
      var lean = of(torch.ScalarType.BFloat16, LeanCrossEntropy::sum);
      var plain =
          of(
              torch.ScalarType.BFloat16,
              (logits, classes) -> plain(logits.to(torch.ScalarType.Float), classes));
      assertThat(lean.loss())
          .isCloseTo(plain.loss(), org.assertj.core.data.Percentage.withPercentage(1e-4));
      double farthest =
          lean.gradient()
              .to(torch.ScalarType.Float)
              .sub(plain.gradient().to(torch.ScalarType.Float))
              .abs()
              .max()
              .item_double();
      assertThat(farthest).as("one step of bf16 below 1").isLessThanOrEqualTo(1.0 / 256);
    }
  }

  @Test
  void leavesMainMemoryAndEvaluationToLibtorch() {
    try (var _ = TensorScope.open()) {
      assertThat(LeanCrossEntropy.suits(logits().to(torch.ScalarType.BFloat16))).isFalse();
    }
  }

  @Test
  void logitsMayBeOverwrittenOnlyIfNobodyElseHoldsTheirMemory() {
    try (var _ = TensorScope.open()) {
      Tensor logits = logits();
      Tensor kept = logits.detach();
      assertThat(CrossEntropyKernel.isHeldAlone(kept)).as("beside a handle").isFalse();
      TensorScope.free(logits);
      Tensor alone = logits().sin();
      assertThat(CrossEntropyKernel.isHeldAlone(alone)).isTrue();
      Tensor row = alone.narrow(0, 0, 1);
      assertThat(CrossEntropyKernel.isHeldAlone(alone)).as("beside a view").isFalse();
      assertThat(row.numel()).isEqualTo(CLASSES);
    }
  }

  @Test
  void logitsThatTheGraphReadsInBackwardAreNotOverwritten() {
    try (var _ = TensorScope.open()) {
      Tensor saved;
      try (var scope = TensorScope.open()) {
        Tensor logits = logits().set_requires_grad(true).tanh();
        saved = scope.handOut(logits.detach());
      }
      assertThat(CrossEntropyKernel.isHeldAlone(saved)).as("nobody keeps the graph").isTrue();
      Tensor logits = logits().set_requires_grad(true).tanh();
      Tensor sum = logits.sum();
      Tensor own = logits.detach();
      TensorScope.free(logits);
      assertThat(CrossEntropyKernel.isHeldAlone(own)).as("tanh has saved it").isFalse();
      sum.backward();
      assertThat(CrossEntropyKernel.isHeldAlone(own)).isTrue();
    }
  }

  @Test
  void whatEndsBeforeTheGapOfItsLastRowIsNotWrittenTo() {
    try (var _ = TensorScope.open()) {
      Tensor room = logits().flatten().narrow(0, 0, 3 * CLASSES - 1).clone();
      Tensor rows;
      try (var scope = TensorScope.open()) {
        rows =
            scope.handOut(
                room.as_strided(new long[] {3, CLASSES - 1}, new long[] {CLASSES, 1}).detach());
      }
      TensorScope.free(room);
      assertThat(CrossEntropyKernel.isHeldAlone(rows)).isFalse();
    }
  }
}
