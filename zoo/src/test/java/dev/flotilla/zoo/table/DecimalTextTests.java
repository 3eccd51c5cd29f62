package dev.flotilla.zoo.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class DecimalTextTests {

  private static float parse(String text) {
    var chars = ("x" + text + "y").toCharArray();
    return DecimalText.parse(chars, 1, text.length());
  }

  private static void assertSame(String text) {
    assertThat(Float.floatToRawIntBits(parse(text)))
        .as(text)
        .isEqualTo(Float.floatToRawIntBits(Float.parseFloat(text)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "-0",
        "+0.0",
        "0.1",
        ".5",
        "5.",
        "-1234.5678",
        "16777217",
        "16777219",
        "1e10",
        "-2.5E-3",
        "3.4028235e38",
        "1e-45",
        "1e-60",
        "0.000000000000000000000000001",
        "123456789012345678901",
        // Doubles that lie between two floats, and numbers just beside them.
        "1.00000017881393432617187499",
        "1.00000017881393421514957253748434595763683319091796875",
        "1.000000178813934326171875",
        "9007199254740993",
        "8388608.5",
        "8388609.5"
      })
  void numbersAreThoseOfTheLibrary(String text) {
    assertSame(text);
  }

  @Test
  void randomNumbersAreThoseOfTheLibrary() {
    var random = new SplittableRandom(3);
    for (int i = 0; i < 200_000; i++) {
      assertSame(randomNumber(random));
    }
  }

  private static String randomNumber(SplittableRandom random) {
    var text = new StringBuilder(random.nextBoolean() ? "-" : "");
    int digits = 1 + random.nextInt(18);
    int point = random.nextInt(digits + 1);
    for (int i = 0; i < digits; i++) {
      text.append(i == point ? "." : "").append(random.nextInt(10));
    }
    return random.nextInt(8) == 0
        ? text.append('e').append(random.nextInt(38) - 19) + ""
        : text + "";
  }

  /** Halves between two floats, of 15 digits at most, where rounding twice would go wrong. */
  @Test
  void numbersBetweenTwoFloatsAreThoseOfTheLibrary() {
    var random = new SplittableRandom(4);
    for (int i = 0; i < 20_000; i++) {
      long half = (1L << 24) + 1 + 2L * random.nextInt(1 << 23);
      assertSame(half + "");
      assertSame(half + "." + "0".repeat(random.nextInt(6)) + "1");
      assertSame(half / 2 + ".5");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "-",
        ".",
        "+.",
        "e5",
        "1e",
        "1f",
        "2d",
        "0x1p3",
        "NaN",
        "Infinity",
        "1e39",
        "1,5",
        "1.2.3",
        "--1",
        "1-2",
        "one"
      })
  void whatIsNoFiniteNumberIsRefused(String text) {
    assertThat(parse(text)).isNaN();
  }

  @Test
  void spacesAroundAreNotSeen() {
    assertThat(parse("  2.5\t")).isEqualTo(2.5f);
  }
}
