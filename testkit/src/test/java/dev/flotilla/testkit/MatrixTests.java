package dev.flotilla.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class MatrixTests {

  @Test
  void theFirstTheLastAndOthersBetweenAreTaken() {
    assertThat(Matrix.spread(3, List.of(1, 2, 3, 4, 5))).containsExactly(1, 3, 5);
    assertThat(Matrix.spread(2, List.of(1, 2, 3, 4))).containsExactly(1, 4);
    assertThat(Matrix.spread(4, List.of(1, 2, 3, 4))).containsExactly(1, 2, 3, 4);
  }

  @Test
  void moreThanThereAreIsAMistake() {
    assertThatIllegalArgumentException().isThrownBy(() -> Matrix.spread(4, List.of(1, 2, 3)));
    assertThatIllegalArgumentException().isThrownBy(() -> Matrix.spread(1, List.of(1, 2, 3)));
  }
}
