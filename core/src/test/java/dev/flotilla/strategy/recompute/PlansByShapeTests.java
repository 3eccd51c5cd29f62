package dev.flotilla.strategy.recompute;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.model.Shape;
import java.util.List;
import org.junit.jupiter.api.Test;

class PlansByShapeTests {

  private final PlansByShape plans = new PlansByShape();

  private static RecomputePlan plan(long bytes) {
    return new RecomputePlan(List.of(), bytes, 0);
  }

  private void add(RecomputePlan plan, long... extents) {
    plans.add(List.of(Shape.of(extents)), plan);
  }

  private List<RecomputePlan> covering(long... extents) {
    return plans.covering(List.of(Shape.of(extents))).stream().toList();
  }

  @Test
  void aPlanServesWhatIsSmallerAlongEveryAxis() {
    add(plan(1), 8, 100);
    assertThat(covering(8, 100)).containsExactly(plan(1));
    assertThat(covering(3, 50)).containsExactly(plan(1));
  }

  @Test
  void longerSequencesNeedAPlanOfTheirOwnAlsoWhereTheyAreFewer() {
    add(plan(1), 8, 100);
    assertThat(covering(4, 200)).isEmpty();
    add(plan(2), 4, 200);
    assertThat(covering(2, 150)).containsExactly(plan(2));
    assertThat(covering(7, 100)).containsExactly(plan(1));
  }

  @Test
  void aPlanTakesThePlaceOfThoseForSmallerInputs() {
    add(plan(1), 8, 100);
    add(plan(2), 8, 200);
    assertThat(covering(8, 100)).containsExactly(plan(2));
  }

  @Test
  void inputsOfAnotherKindNeedAnotherPlan() {
    add(plan(1), 8, 100);
    assertThat(covering(8)).isEmpty();
    assertThat(plans.covering(List.of(Shape.of(8, 100), Shape.of(8)))).isEmpty();
  }
}
