package dev.flotilla.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.optim.Sgd;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.train.Trainer;
import dev.flotilla.verify.Cause.Kind;
import dev.flotilla.verify.HandLoop.Boundary;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Loops as published documents show them, which do not compute what they say. */
class FaultyLoopsTests {

  private static final double LR = 0.1;
  private static final int K = 4;

  /** 11 equal micro-batches of 16 an epoch: two windows of 4 and 3 that are left over. */
  private static final ColouredPoints POINTS = new ColouredPoints(176, 8, 4);

  private static Verification verify(Boundary boundary, double divisor) {
    return verify(boundary, divisor, LR, POINTS);
  }

  private static Verification verify(
      Boundary boundary, double divisor, double lr, ColouredPoints points) {
    var subject =
        new Verifier.Subject(
            new Mlp(8, List.of(16), 4),
            () -> Trainer.on(World.solo()).optimizer(new Sgd(LR)).threads(1),
            List.of(),
            points.batches(16).shuffled(5),
            100);
    return new Verifier(subject, K, 3)
        .verify((model, precision) -> new HandLoop(model, precision, boundary, divisor, lr));
  }

  private static void assertCause(Verification result, Kind kind, String part) {
    assertThat(result.isEqual()).isFalse();
    assertThat(result.causes()).extracting(Cause::kind).containsExactly(kind);
    assertThat(result.causes().getFirst().message()).contains(part);
  }

  @Test
  void aRightLoopWrittenByHandIsEqual() {
    var twelve = new ColouredPoints(192, 8, 4);
    var result = verify((i, _) -> (i + 1) % K == 0, K, LR, twelve);
    assertThat(result.causes()).isEmpty();
    assertThat(result.isEqual()).isTrue();
  }

  @Test
  void catchesUpdatesAfterMicroSteps0And3And6() {
    var result = verify((i, _) -> i % (K - 1) == 0, K);
    assertCause(
        result,
        Kind.BOUNDARY,
        "Updates follow micro-batches 0, 3, 6, 7, 10 instead of 3, 6, 10 (counted from 0): their"
            + " windows hold 1, 3, 3, 1, 3 micro-batches instead of 4, 3, 4, and update 0 is 0.25"
            + " times the mean");
  }

  @Test
  void catchesAnUpdateAfterTheFirstMicroStepAndSumsOfTheRest() {
    var result = verify((i, _) -> i % K == 0, 1);
    assertThat(result.causes()).extracting(Cause::kind).containsExactly(Kind.BOUNDARY, Kind.SUM);
  }

  @Test
  void catchesSumsWithoutDivision() {
    var twelve = new ColouredPoints(192, 8, 4);
    assertCause(
        verify((i, _) -> (i + 1) % K == 0, 1, LR, twelve),
        Kind.SUM,
        "is 4 times the mean of its 4 micro-batches");
  }

  @Test
  void catchesLeftoversCarriedIntoTheNextEpoch() {
    assertCause(
        verify((i, _) -> (i + 1) % K == 0, K),
        Kind.TAIL,
        "holds 3 from the end of epoch 0 and 4 of the next epoch, and update 1 is 1.75 times");
  }

  @Test
  void catchesBothWhereLeftoversAreCarriedAndNothingIsDivided() {
    var result = verify((i, _) -> (i + 1) % K == 0, 1);
    assertThat(result.causes()).extracting(Cause::kind).containsExactly(Kind.TAIL, Kind.SUM);
  }

  @Test
  void catchesATailThatIsDividedByTheFullWindow() {
    assertCause(
        verify((i, last) -> last || (i + 1) % K == 0, K),
        Kind.TAIL,
        "Update 1 (counted from 0), the last of its epoch, is 0.75 times the mean of its 3");
  }

  @Test
  void catchesADivisorThatIsNeitherOneNorK() {
    var twelve = new ColouredPoints(192, 8, 4);
    assertCause(
        verify((i, _) -> (i + 1) % K == 0, 2, LR, twelve),
        Kind.DIVISOR,
        "is 2 times the mean of its 4 micro-batches");
  }

  @Test
  void catchesAnOtherLearningRateByTheWeightsAlone() {
    var twelve = new ColouredPoints(192, 8, 4);
    assertCause(
        verify((i, _) -> (i + 1) % K == 0, K, LR / K, twelve),
        Kind.UPDATE,
        "The gradients agree, but the weights");
  }
}
