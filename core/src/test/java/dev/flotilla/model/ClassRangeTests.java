package dev.flotilla.model;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a GPU is asked before it sees targets; looked at in main memory alone. */
class ClassRangeTests {

  private TensorScope scope;

  @BeforeEach
  void open() {
    scope = TensorScope.open();
  }

  @AfterEach
  void close() {
    scope.close();
  }

  private static Activations outputs(long... shape) {
    return new Activations(List.of(Tensors.zeros(torch.ScalarType.Float, shape)));
  }

  private static Batch batch(Tensor... targets) {
    return new Batch(List.of(), List.of(targets), 4);
  }

  @Test
  void takesAllClasses() {
    var targets = batch(Tensors.ofLongs(0, 9, 3, 9));
    assertThatCode(() -> new Classification().requireTargets(outputs(4, 10), targets))
        .doesNotThrowAnyException();
  }

  @Test
  void namesTheFirstThatIsNone() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                new Classification()
                    .requireTargets(outputs(4, 10), batch(Tensors.ofLongs(0, 9, 10, -1))))
        .withMessage("target 10 of sample 2 is none of the 10 classes, 0 to 9");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                new Classification()
                    .requireTargets(outputs(4, 10), batch(Tensors.ofLongs(0, -1, 1, 2))))
        .withMessage("target -1 of sample 1 is none of the 10 classes, 0 to 9");
  }

  @Test
  void looksAtBothClassesOfMixedSamples() {
    var shares = Tensors.ofDoubles(new double[] {0.5, 0.5, 1, 1});
    var mixed = batch(Tensors.ofLongs(0, 1, 2, 3), Tensors.ofLongs(3, 2, 1, 4), shares);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Classification().requireTargets(outputs(4, 4), mixed))
        .withMessageStartingWith("target 4 of sample 3");
  }

  @Test
  void countsSamplesOfPlaces() {
    var places = Tensors.ofLongs(0, 1, -7, 2, 1, 0, 3, 1).view(4, 2);
    var entropy = new CrossEntropy(0, List.of(), -7L);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> entropy.requireTargets(outputs(4, 3, 2), batch(places)))
        .withMessage(
            "target 3 of sample 3 is none of the 3 classes, 0 to 2, nor -7, which is left out");
    assertThatCode(() -> entropy.requireTargets(outputs(4, 4, 2), batch(places)))
        .doesNotThrowAnyException();
  }

  @Test
  void asksEachTermOfASum() {
    var sum =
        new WeightedSum(
            new WeightedSum.Term(new SquaredError(), 1, 0, 0),
            new WeightedSum.Term(new Classification(), 1, 1, 1));
    var targets = batch(Tensors.zeros(torch.ScalarType.Float, 4), Tensors.ofLongs(0, 1, 2, 1));
    var outputs =
        new Activations(
            List.of(
                Tensors.zeros(torch.ScalarType.Float, 4),
                Tensors.zeros(torch.ScalarType.Float, 4, 2)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> sum.requireTargets(outputs, targets))
        .withMessage("target 2 of sample 2 is none of the 2 classes, 0 to 1");
  }

  @Test
  void leavesOtherTargetsToTheLoss() {
    assertThatCode(
            () ->
                new Classification()
                    .requireTargets(
                        outputs(4, 10), batch(Tensors.zeros(torch.ScalarType.Float, 4, 10))))
        .doesNotThrowAnyException();
  }
}
