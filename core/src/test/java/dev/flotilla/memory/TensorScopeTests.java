package dev.flotilla.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;

class TensorScopeTests {

  @Test
  void freesWhatIsNotHandedOut() {
    Tensor temporary;
    Tensor result;
    try (var outer = TensorScope.open()) {
      try (var inner = TensorScope.open()) {
        temporary = torch.ones(4);
        result = inner.handOut(temporary.add(temporary));
      }
      assertThat(temporary.isNull()).isTrue();
      assertThat(result.sum().item_double()).isEqualTo(8);
      assertThat(outer).isNotNull();
    }
    assertThat(result.isNull()).isTrue();
  }

  @Test
  void whatIsKeptOutlivesAllScopesUntilItIsFreed() {
    Tensor kept;
    try (var _ = TensorScope.open()) {
      kept = TensorScope.keep(torch.ones(4));
    }
    assertThat(kept.sum().item_double()).isEqualTo(4);
    TensorScope.free(kept);
    assertThat(kept.isNull()).isTrue();
    TensorScope.free(kept);
  }

  @Test
  void viewsShowATensorsMemory() {
    try (var _ = TensorScope.open()) {
      var tensor = Tensors.ofDoubles(1, 2, 3);
      assertThat(NativeView.of(tensor).toArray(java.lang.foreign.ValueLayout.JAVA_DOUBLE))
          .containsExactly(1, 2, 3);
    }
  }
}
