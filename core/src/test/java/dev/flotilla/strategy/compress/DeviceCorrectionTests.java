package dev.flotilla.strategy.compress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DeviceCorrectionTests {

  private static Tensor floats(double... values) {
    return TensorScope.keep(Tensors.ofDoubles(values).to(torch.ScalarType.Float));
  }

  private static float[] values(Tensor tensor) {
    return NativeView.of(tensor).toArray(ValueLayout.JAVA_FLOAT);
  }

  /** Small gradients are summed after the pass where buckets leave early. */
  @ParameterizedTest
  @CsvSource({"0.9, false, 0.01", "0.9, true, 0.01", "0, false, 0.01", "0.9, true, 0"})
  void leavesSmallParametersAlone(double momentum, boolean nesterov, double decay) {
    try (var _ = TensorScope.open()) {
      var field =
          new DeviceField(
              0,
              floats(1, 2, 3, 4, 5, 6),
              floats(0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
              floats(0, 0, 0, 0, 0, 0),
              floats(7, 7, 7, 7, 7, 7),
              List.of(new ArenaSlice(0, 2, decay), new ArenaSlice(4, 2, decay)),
              TensorScope.keep(Tensors.ofLongs(2, 3)));
      try (var correction = new DeviceCorrection(new Rule(momentum, nesterov, true), field)) {
        correction.apply(0.5);
        assertThat(values(field.gradient())[2]).isEqualTo(3f);
        assertThat(values(field.gradient())[3]).isEqualTo(4f);
        assertThat(values(field.velocity())[2]).isEqualTo(0.3f);
        assertThat(values(field.velocity())[3]).isEqualTo(0.4f);
        assertThat(values(field.residual())[2]).isZero();
        assertThat(values(field.residual())[0]).isNotZero();
      } finally {
        field.free();
      }
    }
  }
}
