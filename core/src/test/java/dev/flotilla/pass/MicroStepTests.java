package dev.flotilla.pass;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.pass.Accumulation.Decision;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MicroStepTests {

  @Test
  void everyMicroStepIsABoundaryByDefault() {
    var step = MicroStep.NONE.next(Accumulation.NONE, false, 0);
    assertThat(step).isEqualTo(new MicroStep(0, 0, 0, Decision.UPDATE));
    assertThat(step.next(Accumulation.NONE, false, 1))
        .isEqualTo(new MicroStep(1, 0, 1, Decision.UPDATE));
  }

  @Test
  void aWindowOfFourEndsAfterItsFourthMicroStep() {
    Accumulation four = (count, _, _) -> count == 4 ? Decision.UPDATE : Decision.CONTINUE;
    List<Long> boundaries = new ArrayList<>();
    var step = MicroStep.NONE;
    for (int i = 0; i < 20; i++) {
      step = step.next(four, false, boundaries.size());
      if (step.isBoundary()) {
        boundaries.add(step.index());
      }
    }
    assertThat(boundaries).containsExactly(3L, 7L, 11L, 15L, 19L);
  }

  @Test
  void seedsOfNeighboursDiffer() {
    assertThat(Seeds.mix(1, 2, 3))
        .isNotEqualTo(Seeds.mix(1, 2, 4))
        .isNotEqualTo(Seeds.mix(1, 3, 2));
    assertThat(Seeds.mix(1, 2, 3)).isEqualTo(Seeds.mix(1, 2, 3));
  }
}
