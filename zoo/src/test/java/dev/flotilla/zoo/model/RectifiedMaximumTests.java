package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;
import org.bytedeco.pytorch.AutoGradMode;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The bits of libtorch's relu and max_pool2d. */
final class RectifiedMaximumTests {

  private static final long[] ONE = {1, 1};
  private static final long[] NONE = {0, 0};
  private static final long[] TWO = {2, 2};

  /** Equal ones, zeros of both signs, what has no larger one, and what is no number. */
  private static final float[] SPECIAL = {
    0,
    -0f,
    1,
    1,
    -1,
    Float.MIN_VALUE,
    -Float.MIN_VALUE,
    Float.POSITIVE_INFINITY,
    Float.NEGATIVE_INFINITY,
    Float.MAX_VALUE
  };

  private TensorScope scope;
  private int threads;

  @BeforeEach
  void open() {
    scope = TensorScope.open();
    threads = torch.get_num_threads();
    torch.set_num_threads(1);
  }

  @AfterEach
  void close() {
    torch.set_num_threads(threads);
    scope.close();
  }

  @ParameterizedTest
  @CsvSource({
    "64, 6, 28, 28",
    "64, 16, 10, 10",
    "3, 2, 8, 8",
    "1, 1, 2, 8",
    "2, 3, 5, 9",
    "2, 1, 7, 11",
    "1, 2, 3, 15",
    "2, 2, 2, 33"
  })
  void givesTheBitsOfTwoOperations(long count, long channels, long height, long width) {
    long[] shape = {count, channels, height, width};
    Tensor input = numbers(shape, false);
    Tensor output = RectifiedMaximum.of(input).orElseThrow();
    Tensor expected = libtorch(input);
    assertThat(bits(output)).isEqualTo(bits(expected));

    Tensor gradient = numbers(expected.shape(), false).detach();
    assertThat(bits(backward(output, input, gradient)))
        .isEqualTo(bits(backward(expected, input, gradient)));
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void givesThemOnSeveralThreadsToo(int count) {
    torch.set_num_threads(count);
    givesTheBitsOfTwoOperations(64, 6, 28, 28);
    givesTheBitsOfTwoOperations(1, 2, 301, 129);
  }

  @Test
  void passesOnWhatIsNoNumber() {
    long[] shape = {4, 3, 12, 12};
    Tensor input = numbers(shape, true);
    Tensor output = RectifiedMaximum.of(input).orElseThrow();
    Tensor expected = libtorch(input);
    assertThat(output.isnan().equal(expected.isnan())).isTrue();
    assertThat(output.isnan().any().item_bool()).isTrue();
    assertThat(output.nan_to_num().equal(expected.nan_to_num())).isTrue();
    // libtorch gives a gradient to the last of several that are no number, and this to the first.
    Tensor gradient = torch.ones_like(output.detach());
    assertThat(backward(output, input, gradient).sum().item_double())
        .isEqualTo(backward(expected, input, gradient).sum().item_double());
  }

  @Test
  void leavesItsInputAsItWas() {
    Tensor input = numbers(new long[] {2, 2, 8, 8}, false);
    int[] before = bits(input);
    RectifiedMaximum.of(input).orElseThrow();
    assertThat(bits(input)).isEqualTo(before);
  }

  @Test
  void asksForNoGradientWhereNobodyWantsOne() {
    try (var _ = new AutoGradMode(false)) {
      Tensor input = numbers(new long[] {2, 2, 8, 8}, false);
      assertThat(RectifiedMaximum.of(input).orElseThrow().requires_grad()).isFalse();
    }
  }

  @Test
  void leavesTheRestToLibtorch() {
    Tensor input = numbers(new long[] {2, 4, 8, 8}, false).detach();
    for (Tensor other :
        List.of(
            input.to(ScalarType.Double),
            input.to(ScalarType.BFloat16),
            input.transpose(2, 3),
            input.narrow(3, 0, 7).contiguous(),
            input.narrow(2, 0, 1).contiguous(),
            input.narrow(0, 0, 0),
            input.view(8, 8, 8))) {
      assertThat(RectifiedMaximum.of(other)).as(other.toString()).isEmpty();
    }
    torch.set_num_threads(5);
    assertThat(RectifiedMaximum.of(input)).as("five threads").isEmpty();
  }

  private static Tensor libtorch(Tensor input) {
    return torch.max_pool2d(input.relu(), TWO, TWO, NONE, ONE, false);
  }

  private static Tensor backward(Tensor output, Tensor input, Tensor gradient) {
    input.mutable_grad().put(new Tensor());
    output.mul(gradient).sum().backward();
    return input.grad().clone();
  }

  private static Tensor numbers(long[] shape, boolean hasNans) {
    var random = new SplittableRandom(3);
    int count = 1;
    for (long size : shape) {
      count *= (int) size;
    }
    var values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] =
          random.nextInt(3) == 0
              ? SPECIAL[random.nextInt(SPECIAL.length)]
              : (float) random.nextGaussian();
      if (hasNans && random.nextInt(9) == 0) {
        // What processors give for 0 / 0 has another sign than Java's.
        values[i] = Float.intBitsToFloat(random.nextBoolean() ? 0xffc00000 : 0x7fc00000);
      }
    }
    return Tensors.ofFloats(values).view(shape).set_requires_grad(true);
  }

  private static int[] bits(Tensor tensor) {
    return NativeView.of(tensor.detach().contiguous()).toArray(ValueLayout.JAVA_INT);
  }
}
