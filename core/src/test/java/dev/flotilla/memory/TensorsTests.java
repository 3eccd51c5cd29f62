package dev.flotilla.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.Test;

final class TensorsTests {

  @Test
  void numbersComeBackAsTheyWere() {
    try (var _ = TensorScope.open()) {
      float[] floats = {1.5f, -0f, Float.NaN, Float.MAX_VALUE, 0x1p-149f, 7};
      assertThat(Tensors.toFloats(Tensors.ofFloats(floats, 2, 3))).isEqualTo(floats);
      double[] doubles = {Math.PI, Double.NEGATIVE_INFINITY, 0x1p-1074, 4};
      assertThat(Tensors.toDoubles(Tensors.ofDoubles(doubles, 2, 2))).isEqualTo(doubles);
      long[] longs = {Long.MIN_VALUE, -1, (1L << 53) + 1, Long.MAX_VALUE};
      assertThat(Tensors.toLongs(Tensors.ofLongs(longs, 4, 1))).isEqualTo(longs);
      int[] ints = {Integer.MIN_VALUE, -1, 3, Integer.MAX_VALUE};
      assertThat(Tensors.toInts(Tensors.ofInts(ints, 2, 2))).isEqualTo(ints);
    }
  }

  @Test
  void aShapeIsReadRowByRow() {
    try (var _ = TensorScope.open()) {
      var tensor = Tensors.ofFloats(new float[] {0, 1, 2, 3, 4, 5}, 2, 3);
      assertThat(tensor.size(0)).isEqualTo(2);
      assertThat(tensor.size(1)).isEqualTo(3);
      assertThat(Tensors.toFloats(tensor.select(1, 2))).containsExactly(2, 5);
      assertThat(Tensors.toFloats(tensor.transpose(0, 1))).containsExactly(0, 3, 1, 4, 2, 5);
      assertThat(Tensors.ofFloats(1, 2).dim()).isEqualTo(1);
      assertThat(Tensors.ofInts(new int[] {3}, new long[0]).dim()).isZero();
      assertThat(Tensors.toLongs(Tensors.ofLongs(new long[0], 0, 5))).isEmpty();
    }
  }

  @Test
  void narrowerTypesAreReadAndWiderOnesRefused() {
    try (var _ = TensorScope.open()) {
      var half = Tensors.ofFloats(0.5f, 3).to(ScalarType.Half);
      assertThat(Tensors.toFloats(half)).containsExactly(0.5f, 3);
      assertThat(Tensors.toDoubles(half)).containsExactly(0.5, 3);
      assertThat(Tensors.toLongs(Tensors.ofInts(1, -2))).containsExactly(1, -2);
      assertThatThrownBy(() -> Tensors.toFloats(Tensors.ofDoubles(1)))
          .hasMessage(
              "toFloats would change the numbers of a tensor of type Double: read it with"
                  + " toDoubles");
      assertThatThrownBy(() -> Tensors.toInts(Tensors.ofLongs(1)))
          .hasMessageEndingWith("of type Long: read it with toLongs");
      assertThatThrownBy(() -> Tensors.toLongs(Tensors.ofFloats(1)))
          .hasMessageEndingWith("of type Float: read it with toFloats");
    }
  }

  @Test
  void aShapeThatDoesNotFitIsRefused() {
    assertThatThrownBy(() -> Tensors.ofFloats(new float[5], 2, 3))
        .hasMessage("shape [2, 3] takes 6 numbers, but 5 are given");
    assertThatThrownBy(() -> Tensors.ofLongs(new long[1], -1, -1))
        .hasMessage("a shape must not have negative extents, but was [-1, -1]");
  }

  /** Libtorch returns a type as a new constant each time. */
  @Test
  void nothingIsLeftOfTensorsInScopesOrFreed() {
    long before = 0;
    for (int i = 0; i < 20; i++) {
      try (var _ = TensorScope.open()) {
        var type = Tensors.ofFloats(1).scalar_type();
        assertThat(Tensors.empty(type, 2).numel()).isEqualTo(2);
      }
      var unscoped = Tensors.empty(ScalarType.Float, 3);
      TensorScope.free(unscoped);
      assertThat(unscoped.isNull()).isTrue();
      before = i == 0 ? Pointer.totalCount() : before;
    }
    assertThat(Pointer.totalCount()).isEqualTo(before);
  }
}
