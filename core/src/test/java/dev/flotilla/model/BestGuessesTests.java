package dev.flotilla.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BestGuessesTests {

  private static final int ANSWERS = 23;
  private static final int CLASSES = 11;

  /** Numbers of which no two in a row are the same. */
  private static Tensor logits(int classes) {
    return torch
        .arange(new Scalar((long) ANSWERS * classes))
        .to(torch.ScalarType.Double)
        .mul(new Scalar(0.7))
        .sin()
        .view(ANSWERS, classes);
  }

  private static Tensor classes(int classes) {
    var right = new long[ANSWERS];
    for (int i = 0; i < ANSWERS; i++) {
      right[i] = i % 5 == 4 ? -100 : i * 3L % classes;
    }
    return Tensors.ofLongs(right);
  }

  /** How many classes of a row are thought better than the right one. */
  private static Score byHand(Tensor logits, Tensor classes) {
    long top1 = 0;
    long top5 = 0;
    for (int i = 0; i < ANSWERS; i++) {
      long right = classes.select(0, i).item_long();
      if (right >= 0) {
        Tensor row = logits.select(0, i);
        long better = row.gt(row.select(0, right)).sum().item_long();
        top1 += better == 0 ? 1 : 0;
        top5 += better < 5 ? 1 : 0;
      }
    }
    return new Score(top1, top5, ANSWERS);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 7, 22, 23, 1000})
  void areTheSameHoweverManyRowsAreLookedAtAtOnce(long rows) {
    try (var _ = TensorScope.open()) {
      Tensor all = logits(CLASSES + 3);
      // With gaps between rows, as the logits of a vocabulary have.
      Tensor logits = all.narrow(1, 0, CLASSES);
      var score = BestGuesses.score(logits, classes(CLASSES), ANSWERS, rows);
      assertThat(score).isEqualTo(byHand(logits, classes(CLASSES)));
      assertThat(score.top1()).isPositive();
      assertThat(score.top5()).isGreaterThan(score.top1()).isLessThan(ANSWERS);
    }
  }

  @Test
  void ofFewClassesTakeAll() {
    try (var _ = TensorScope.open()) {
      var score = BestGuesses.score(logits(3), classes(3), ANSWERS);
      assertThat(score).isEqualTo(byHand(logits(3), classes(3)));
    }
  }

  @Test
  void ofNoAnswersAreNone() {
    try (var _ = TensorScope.open()) {
      var score = BestGuesses.score(logits(3).narrow(0, 0, 0), classes(3).narrow(0, 0, 0), 0);
      assertThat(score).isEqualTo(new Score(0, 0, 0));
    }
  }
}
