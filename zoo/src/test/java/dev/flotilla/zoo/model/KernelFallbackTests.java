package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.Autocast;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** In main memory libtorch's operations do what kernels of our own do on a GPU. */
class KernelFallbackTests {

  private static final torch.ScalarType HALF = torch.ScalarType.BFloat16;

  @BeforeAll
  static void load() {
    NativeLibraries.load();
  }

  private static Tensor numbers(long... shape) {
    return Tensors.zeros(torch.ScalarType.Float, shape);
  }

  @Test
  void noKernelTakesATensorInMainMemory() {
    try (var _ = TensorScope.open()) {
      Tensor matrix = numbers(3, 8);
      Tensor offset = numbers(8);
      assertThat(BiasGelu.of(matrix, offset)).isEmpty();
      assertThat(BiasGelu.takes(HALF, offset)).isFalse();
      assertThat(ResidualSum.of(matrix, matrix, 0.1)).isEmpty();
      assertThat(FusedLayerNorm.of(matrix, offset, offset, 1e-5, true)).isEmpty();
      Tensor classes = Tensors.ofLongs(1, 2, 3);
      assertThat(CrossEntropyKernel.sum(matrix.to(HALF), classes)).isEmpty();
    }
  }

  @Test
  void productsInMainMemoryAreLibtorchs() {
    try (var _ = TensorScope.open();
        var _ = Autocast.to(HALF, ComputeDevice.CPU)) {
      var product = new HalfProduct(List.of(numbers(3, 8)), List.of(numbers(3)));
      assertThat(product.suits()).isFalse();
    }
  }

  @Test
  void everySourceOfKernelsIsThere() {
    for (var name :
        List.of("common.cuh", "residual.cu", "columns.cu", "half.cu", "cross_entropy.cu")) {
      assertThat(KernelSource.class.getResource(name)).as(name).isNotNull();
    }
  }
}
