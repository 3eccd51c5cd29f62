package dev.flotilla.board.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("quick")
class RunJsonTests {

  @Test
  void numbersHaveSixDigits() {
    var random = new Random(1);
    for (int i = 0; i < 100_000; i++) {
      double value = random.nextGaussian() * Math.pow(10, random.nextInt(-60, 60));
      assertThat(RunJson.number(value)).isEqualTo(exact(value));
    }
  }

  private static Object exact(double value) {
    return value == Math.rint(value) && Math.abs(value) < 1e15
        ? (Object) (long) value
        : (Object)
            new BigDecimal(value).round(new MathContext(6, RoundingMode.HALF_EVEN)).doubleValue();
  }

  @Test
  void whatIsNotFiniteIsNull() {
    assertThat(RunJson.number(Double.NaN)).isNull();
    assertThat(RunJson.number(Double.NEGATIVE_INFINITY)).isNull();
  }

  @Test
  void theGreatestAndTheSmallestAreRoundedToo() {
    assertThat(RunJson.number(Double.MAX_VALUE)).isEqualTo(1.79769e308);
    assertThat(RunJson.number(Double.MIN_VALUE)).isEqualTo(Double.MIN_VALUE);
    assertThat(RunJson.number(999_999.96)).isEqualTo(1e6);
    assertThat(RunJson.number(-0.1)).isEqualTo(-0.1);
  }
}
