package dev.flotilla.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ObjectivesTests {

  private final TensorScope scope = TensorScope.open();

  @BeforeAll
  static void load() {
    NativeLibraries.load();
  }

  @AfterEach
  void free() {
    scope.close();
  }

  private static LossTerms loss(Objective objective, Tensor outputs, Tensor targets) {
    var batch = new Batch(List.of(outputs), targets, 3);
    return objective.loss(Activations.of(outputs), batch);
  }

  @Test
  void squaredErrorComparesNumberByNumber() {
    var loss = loss(new SquaredError(), Tensors.ofDoubles(1, 2, 5), Tensors.ofDoubles(1, 4, 2));
    assertThat(loss.sum().item_double()).isEqualTo(13);
    assertThat(loss.count()).isEqualTo(3);
  }

  @Test
  void squaredErrorRefusesShapesThatLibtorchWouldStretch() {
    var outputs = Tensors.ofDoubles(1, 2, 5);
    assertThatThrownBy(() -> loss(new SquaredError(), outputs.view(3, 1), outputs))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("targets have shape 3: give both the same shape");
    assertThatThrownBy(() -> loss(new SquaredError(), outputs, Tensors.ofDoubles(1)))
        .hasMessageContaining("targets have shape 1");
  }

  @Test
  void classificationTakesOneClassPerSample() {
    var logits = Tensors.zeros(ScalarType.Float, 3, 4);
    assertThat(loss(new Classification(), logits, Tensors.ofLongs(0, 1, 2)).count()).isEqualTo(3);
  }

  @Test
  void classificationRefusesAClassPerPixelAndProbabilities() {
    var pixels = Tensors.zeros(ScalarType.Float, 3, 4, 2);
    var perPixel = Tensors.zeros(ScalarType.Long, 3, 2);
    assertThatThrownBy(() -> loss(new Classification(), pixels, perPixel))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("targets have shape 3x2");
    var logits = Tensors.zeros(ScalarType.Float, 3, 4);
    assertThatThrownBy(() -> loss(new Classification(), logits, logits))
        .hasMessageContaining("targets have shape 3x4");
    assertThatThrownBy(() -> loss(new Classification(), logits, Tensors.ofLongs(1)))
        .hasMessageContaining("targets have shape 1");
  }

  /** λ CE(a) + (1 − λ) CE(b) of each sample, by hand: logits (0, x) give log(1 + eˣ) and less x. */
  @Test
  void mixedClassesAreWeightedByTheirShares() {
    var logits = Tensors.ofDoubles(0, 1, 0, -2).view(2, 2);
    var batch =
        new Batch(
            List.of(),
            List.of(Tensors.ofLongs(0, 1), Tensors.ofLongs(1, 1), Tensors.ofDoubles(0.25, 0.5)),
            2);
    double first = Math.log1p(Math.E) - 0.75;
    double second = Math.log1p(Math.exp(-2)) + 2;
    for (var objective : List.of(new Classification(), new CrossEntropy(0, List.of(), null))) {
      var loss = objective.loss(Activations.of(logits), batch);
      assertThat(loss.sum().item_double()).isCloseTo(first + second, within(1e-12));
      assertThat(loss.count()).isEqualTo(2);
      assertThat(objective.score(Activations.of(logits), batch).top1()).isZero();
    }
    assertThatThrownBy(() -> new CrossEntropy(0, List.of(), 1L).loss(Activations.of(logits), batch))
        .hasMessageContaining("mixed samples have two classes each");
  }

  /** libtorch would leave such samples out of the sum, and the mean would be too small. */
  @Test
  void classificationIgnoresNoClassInSilence() {
    var logits = Tensors.zeros(ScalarType.Float, 2, 4);
    assertThatThrownBy(() -> loss(new Classification(), logits, Tensors.ofLongs(0, -100)))
        .hasMessageContaining("-100 is out of bounds");
  }
}
