package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import org.bytedeco.pytorch.Tensor;
import org.junit.jupiter.api.Test;

class ZeroGapsTests {

  private static Tensor rows() {
    return Tensors.ofFloats(1, 2, 0, 3, 4, 0).view(2, 3).narrow(1, 0, 2);
  }

  @Test
  void areThoseOfTheTensorThatWasNotedOnce() {
    try (var _ = TensorScope.open()) {
      Tensor gradient = rows();
      ZeroGaps.note(gradient);
      assertThat(ZeroGaps.areIn(new Tensor(gradient))).as("another handle of it").isTrue();
      assertThat(ZeroGaps.areIn(gradient)).as("asked again").isFalse();
    }
  }

  @Test
  void areNotThoseOfAnotherViewOfTheSameMemory() {
    try (var _ = TensorScope.open()) {
      Tensor gradient = rows();
      ZeroGaps.note(gradient);
      assertThat(ZeroGaps.areIn(gradient.narrow(1, 0, 2))).isFalse();
      assertThat(ZeroGaps.areIn(gradient)).as("forgotten").isFalse();
    }
  }

  @Test
  void areForgottenWhenTheNextGradientComes() {
    try (var _ = TensorScope.open()) {
      Tensor first = rows();
      ZeroGaps.note(first);
      ZeroGaps.note(rows());
      assertThat(ZeroGaps.areIn(first)).isFalse();
    }
  }

  @Test
  void areKnownToTheirThreadAlone() throws InterruptedException {
    try (var _ = TensorScope.open()) {
      Tensor gradient = rows();
      ZeroGaps.note(gradient);
      var seen = new boolean[1];
      var other = new Thread(() -> seen[0] = ZeroGaps.areIn(gradient));
      other.start();
      other.join();
      assertThat(seen[0]).isFalse();
      assertThat(ZeroGaps.areIn(gradient)).isTrue();
    }
  }
}
