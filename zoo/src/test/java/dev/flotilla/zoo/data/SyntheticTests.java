package dev.flotilla.zoo.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

final class SyntheticTests {

  @Test
  void makesImagesOfAnyShape() {
    var data = new SyntheticImages(4, 300, 7, 20, 5);
    assertThat(data.train().size()).isEqualTo(20);
    assertThat(data.test().size()).isEqualTo(5);
    try (var _ = TensorScope.open()) {
      var batch = data.train().load(new int[] {3, 9, 3});
      assertThat(batch.inputs().getFirst().shape()).containsExactly(3, 4, 300, 300);
      assertThat(NativeView.of(batch.targets()).toArray(ValueLayout.JAVA_LONG))
          .containsExactly(3, 2, 3);
      float[] all = NativeView.of(batch.inputs().getFirst()).toArray(ValueLayout.JAVA_FLOAT);
      int length = 4 * 300 * 300;
      assertThat(all[0]).isEqualTo(all[2 * length]).isNotEqualTo(all[length]);
      double squares = 0;
      for (float value : all) {
        squares += value * value;
      }
      assertThat(squares / all.length).isBetween(0.9, 1.1);
    }
  }

  @Test
  void makesMaskedSequences() {
    var data = new SyntheticTokens(100, 16, 8, 4, TextTask.PRETRAINING, 2);
    try (var _ = TensorScope.open()) {
      var batch = data.train().load(new int[] {1, 2}, 1, 1);
      assertThat(batch.inputs()).hasSize(5);
      assertThat(batch.inputs().getFirst().shape()).containsExactly(2, 16);
      var classified = new SyntheticTokens(100, 16, 8, 4, TextTask.CLASSIFICATION, 3);
      assertThat(classified.test().load(new int[] {0}).inputs()).hasSize(4);
    }
  }
}
