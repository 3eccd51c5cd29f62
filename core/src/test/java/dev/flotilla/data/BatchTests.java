package dev.flotilla.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.junit.jupiter.api.Test;

final class BatchTests {

  /** Samples with two inputs and three targets, each its number times a factor. */
  private record Several(int size, int loadingThreads) implements Dataset {

    @Override
    public Batch load(int[] samples) {
      return new Batch(
          List.of(times(1, samples), times(10, samples)),
          List.of(times(100, samples), times(1_000, samples), times(10_000, samples)),
          samples.length);
    }

    private static Tensor times(long factor, int[] samples) {
      return Tensors.ofLongs(Arrays.stream(samples).mapToLong(it -> it * factor).toArray());
    }
  }

  private static List<Long> numbers(Tensor tensor) {
    return Arrays.stream(NativeView.of(tensor).toArray(ValueLayout.JAVA_LONG)).boxed().toList();
  }

  private static List<List<Long>> numbers(List<Tensor> tensors) {
    return tensors.stream().map(BatchTests::numbers).toList();
  }

  @Test
  void severalInputsAndTargetsComeThroughALoader() {
    for (int threads : new int[] {0, 2}) {
      List<List<List<Long>>> seen = new ArrayList<>();
      try (var loader = new Several(5, threads).batches(3).epoch(0, 0, 1).loader()) {
        for (int i = 0; i < 2; i++) {
          try (var _ = TensorScope.open()) {
            var batch = loader.load(i);
            seen.add(numbers(batch.inputs()));
            seen.add(numbers(batch.allTargets()));
          }
        }
      }
      assertThat(seen)
          .containsExactly(
              List.of(List.of(0L, 1L, 2L), List.of(0L, 10L, 20L)),
              List.of(
                  List.of(0L, 100L, 200L),
                  List.of(0L, 1000L, 2000L),
                  List.of(0L, 10_000L, 20_000L)),
              List.of(List.of(3L, 4L), List.of(30L, 40L)),
              List.of(List.of(300L, 400L), List.of(3000L, 4000L), List.of(30_000L, 40_000L)));
    }
  }

  @Test
  void isCutWithAllItsTargets() {
    try (var _ = TensorScope.open()) {
      var parts = new Several(5, 0).load(new int[] {0, 1, 2, 3, 4}).split(2);
      assertThat(numbers(parts.getLast().allTargets()))
          .containsExactly(List.of(300L, 400L), List.of(3000L, 4000L), List.of(30_000L, 40_000L));
      assertThat(parts.getLast().samples()).isEqualTo(2);
    }
  }

  @Test
  void givesOneOfSeveralTargets() {
    try (var _ = TensorScope.open()) {
      var batch = new Several(5, 0).load(new int[] {1});
      assertThat(batch.withTarget(1).targets().item_long()).isEqualTo(1000);
      assertThat(batch.withTarget(2).hostTargets().item_long()).isEqualTo(10_000);
      assertThat(batch.withTarget(2).inputs()).isEqualTo(batch.inputs());
      assertThatThrownBy(batch::targets)
          .hasMessage(
              "the batch has 3 targets, but one is asked for: choose with withTarget(index)");
      assertThatThrownBy(() -> batch.withTarget(3))
          .hasMessage("the batch has 3 targets, so that index must be in [0, 3), but was 3");
    }
  }
}
