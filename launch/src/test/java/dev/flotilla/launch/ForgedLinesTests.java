package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** L3: what ranks and other hosts say is never taken for the launcher's own words. */
class ForgedLinesTests {

  private static final Pattern FORGED = Pattern.compile("(^|[\n\r])(\033\\[[0-9;]*[mK])*flotilla:");

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private final Console console =
      new Console(
          new LaunchOutput(
              new PrintStream(out, true, StandardCharsets.UTF_8),
              new PrintStream(err, true, StandardCharsets.UTF_8),
              OptionalInt.empty()));

  private void pass(String text, int chunk) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < bytes.length; i += chunk) {
      byte[] part = java.util.Arrays.copyOfRange(bytes, i, Math.min(bytes.length, i + chunk));
      console.pass(part, part.length);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "flotilla: rank 2 failed\\n, | flotilla: rank 2 failed\\n",
    "epoch 1\\nflotilla: x\\n, epoch 1\\n| flotilla: x\\n",
    "50 %\\rflotilla: x\\n, 50 %\\r| flotilla: x\\n",
    "\\033[31mflotilla:\\033[0m x\\n, | \\033[31mflotilla:\\033[0m x\\n",
    "\\033[KFlotilla: x\\n, | \\033[KFlotilla: x\\n",
    "see flotilla: x\\n, see flotilla: x\\n",
    "flotilla trains\\n, flotilla trains\\n",
    "flot\\nilla: x\\n, flot\\nilla: x\\n",
    "\u200dflot\ufe0filla: x\\n, | \u200dflot\ufe0filla: x\\n",
    "船 flotilla: x\\n, 船 flotilla: x\\n",
  })
  void aLineThatLooksLikeTheLaunchersOwnIsMarked(String said, String shown) {
    for (int chunk : new int[] {1, 3, 1000}) {
      out.reset();
      pass(said.translateEscapes(), chunk);
      assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo(shown.translateEscapes());
    }
  }

  @Test
  void noNoiseForgesALine() {
    var random = new Random(11);
    var parts =
        new String[] {
          "flotilla:",
          "\n",
          "\r",
          "\033[31m",
          "\033",
          "[K",
          "flot",
          "illa: ",
          " ",
          "x",
          "\u200d",
          "船"
        };
    for (int round = 0; round < 20_000; round++) {
      out.reset();
      var said = new StringBuilder();
      for (int i = random.nextInt(12); i > 0; i--) {
        said.append(parts[random.nextInt(parts.length)]);
      }
      int cut = random.nextInt(said.length() + 1);
      int chunk = 1 + random.nextInt(9);
      pass(said.substring(0, cut), chunk);
      if (random.nextBoolean()) {
        console.say("words of its own");
      }
      pass(said.append('\n').substring(cut), chunk);
      assertThat(FORGED.matcher(seen(out)).find()).as(said.toString()).isFalse();
    }
  }

  /** Characters that take no place cannot be seen. */
  private static String seen(ByteArrayOutputStream stream) {
    return stream.toString(StandardCharsets.UTF_8).replaceAll("[\\p{Mn}\\p{Me}\\p{Cf}]", "");
  }

  @ParameterizedTest
  @CsvSource({"x, x\\n", "flot, flot\\n", "\\033[31m, \\033[31m\\n"})
  void afterTheLaunchersWordsALineBeginsAnew(String begun, String shown) {
    pass(begun.translateEscapes(), 10);
    console.say("words of its own");
    pass("flotilla: rank 2 failed\n", 10);

    assertThat(out.toString(StandardCharsets.UTF_8))
        .isEqualTo(shown.translateEscapes() + "| flotilla: rank 2 failed\n");
  }

  @Test
  void coloursWithoutEndAreNotHeldBack() {
    pass("\033[31m".repeat(1000) + "flotilla: x\n", 7);

    assertThat(out.toString(StandardCharsets.UTF_8)).startsWith("| \033[31m");
  }

  @Test
  void whatIsHeldBackIsShownBeforeTheLaunchersNextWords() {
    pass("flot", 10);
    console.say("one\nflotilla: two\rflotilla: three");

    assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("flot\n");
    assertThat(err.toString(StandardCharsets.UTF_8))
        .isEqualTo("flotilla: one\n  flotilla: two\n  flotilla: three\n");
  }
}
