package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TerminalFilterTests {

  /** What sequences are made of. */
  private static final String PARTS = "\033[;0mKJ\302\233";

  private static byte[] filter(byte[] bytes, int chunk) {
    var out = new ByteArrayOutputStream();
    var filter = new TerminalFilter();
    for (int i = 0; i < bytes.length; i += chunk) {
      byte[] part = Arrays.copyOfRange(bytes, i, Math.min(bytes.length, i + chunk));
      out.writeBytes(filter.filter(part, part.length));
    }
    return out.toByteArray();
  }

  @ParameterizedTest
  @CsvSource({
    "plain\\tand\\r\\n, plain\\tand\\r\\n",
    "grün ¿ÿ €, grün ¿ÿ €",
    "\\033[31mred\\033[0m, \\033[31mred\\033[0m",
    "50 %\\033[K\\r, 50 %\\033[K\\r",
    "a\\033[2Jb, a?b",
    "a\\033[1;1Hb, a?b",
    "\\033]0;title\\007, ?0;title?",
    "\\033c, ?",
    "a\\033\\nb, a?\\nb",
    "\\033\\033[31mx, ?\\033[31mx",
    "bell\\007 back\\010, bell? back?",
    "c1\\2332J, c1?2J",
    "del\\177, del?",
    "船 👩\u200d💻 e\u0301, 船 👩\u200d💻 e\u0301",
    "a\u202eb\u2066c\u200bd\ufeffe\u00adf\u2028g, a?b?c?d?e?f?g",
    "\\033€x, ?€x",
  })
  void letsTextAndColoursThroughAndNothingElse(String text, String shown) {
    byte[] bytes = text.translateEscapes().getBytes(StandardCharsets.UTF_8);
    for (int chunk : new int[] {1, 2, 1000}) {
      assertThat(new String(filter(bytes, chunk), StandardCharsets.UTF_8))
          .isEqualTo(shown.translateEscapes());
    }
    assertThat(TerminalFilter.text(text.translateEscapes())).isEqualTo(shown.translateEscapes());
  }

  @Test
  void noNoiseLeavesAnEscapeThatIsNoColour() {
    var random = new Random(5);
    for (int round = 0; round < 2_000; round++) {
      var noise = new byte[random.nextInt(200)];
      for (int i = 0; i < noise.length; i++) {
        noise[i] = (byte) (i % 3 > 0 ? PARTS.charAt(random.nextInt(9)) : random.nextInt());
      }
      String shown = new String(filter(noise, 1 + random.nextInt(9)), StandardCharsets.ISO_8859_1);
      assertThat(StandardCharsets.UTF_8.newEncoder().canEncode(utf8(shown))).isTrue();
      assertThat(utf8(shown)).doesNotContain("\ufffd");
      assertThat(shown.replaceAll("\033\\[[0-9;]*[mK]", "").replaceAll("\302[\240-\277]", ""))
          .doesNotContainPattern("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]")
          .doesNotContainPattern("\302[\200-\237]");
    }
  }

  private static String utf8(String bytes) {
    return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
  }

  /** A terminal of eight bits would take it for the begin of a sequence. */
  @Test
  void aSingleByteOfAControlCharacterIsNotShown() {
    for (int chunk : new int[] {1, 2, 1000}) {
      byte[] broken = {'a', (byte) 0x9b, '2', 'J', (byte) 0xe2, 'b', (byte) 0xf0, (byte) 0x9f, 'c'};
      assertThat(new String(filter(broken, chunk), StandardCharsets.ISO_8859_1))
          .isEqualTo("a?2J?b?c");
      byte[] tooLong = {(byte) 0xe0, (byte) 0x82, (byte) 0x9b, (byte) 0xc0, (byte) 0x9b};
      assertThat(new String(filter(tooLong, chunk), StandardCharsets.ISO_8859_1)).isEqualTo("???");
    }
  }

  @Test
  void aTextThatEndsInsideASequenceEndsWithAQuestionMark() {
    assertThat(TerminalFilter.text("a\033[3")).isEqualTo("a?");
  }
}
