package dev.flotilla.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import org.junit.jupiter.api.Test;

class ScoreTests {

  @Test
  void countsHitsOfTheBestGuessAndOfAll() {
    try (var _ = TensorScope.open()) {
      var score = Score.of(Tensors.ofLongs(3, 2, 0, 1), 8);
      assertThat(score).isEqualTo(new Score(3, 6, 8)).hasToString("3 and 6 of 8");
      assertThat(score.acc1()).isEqualTo(3 / 8.0);
      assertThat(score.acc5()).isEqualTo(6 / 8.0);
    }
  }

  @Test
  void addsUp() {
    try (var _ = TensorScope.open()) {
      var sum =
          Score.NONE
              .plus(Score.of(Tensors.ofLongs(3, 2), 8))
              .plus(new Score(1, 1, 2))
              .plus(Score.of(Tensors.ofLongs(0, 4), 5));
      assertThat(sum).isEqualTo(new Score(4, 10, 15)).hasSameHashCodeAs(new Score(4, 10, 15));
      assertThat(sum).isNotEqualTo(new Score(4, 10, 16)).isNotEqualTo(new Score(4, 9, 15));
    }
  }

  @Test
  void keepsWhatWasReadBeforeItIsDropped() {
    try (var _ = TensorScope.open()) {
      var score = Score.of(Tensors.ofLongs(3, 2), 8);
      score.drop();
      assertThat(score).isEqualTo(new Score(3, 5, 8));
    }
  }
}
