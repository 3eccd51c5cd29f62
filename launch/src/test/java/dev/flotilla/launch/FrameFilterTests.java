package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FrameFilterTests {

  private static String filter(String text, int chunk) throws IOException {
    var out = new ByteArrayOutputStream();
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    try (var filter = new FrameFilter(out)) {
      for (int i = 0; i < bytes.length; i += chunk) {
        byte[] part = Arrays.copyOfRange(bytes, i, Math.min(bytes.length, i + chunk));
        filter.write(part, part.length);
      }
    }
    return out.toString(StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @CsvSource({
    "plain\\n, plain\\n",
    "no end, no end\\n",
    "\\r1\\r2\\r3\\n, 3\\n",
    "1\\r2\\r3\\r\\n, 3\\n",
    "windows\\r\\nlines\\r\\n, windows\\nlines\\n",
    "50 %\\r, 50 %\\n",
    "50 %\\rend, end\\n",
    "a\\n\\n\\nb\\n, a\\n\\n\\nb\\n",
    "\\r\\r\\rx\\n, x\\n",
    "grün\\rblå\\n, blå\\n",
  })
  void keepsTheLastFrameOfALine(String text, String kept) throws IOException {
    for (int chunk : new int[] {1, 2, 1000}) {
      assertThat(filter(text.translateEscapes(), chunk)).isEqualTo(kept.translateEscapes());
    }
  }

  @Test
  void writesNothingForNothing() throws IOException {
    assertThat(filter("", 1)).isEmpty();
  }

  @Test
  void writesALineLongerThanItsMemoryThrough() throws IOException {
    String line = "x".repeat(200_000);

    assertThat(filter(line + "\rframe\rlast\nnext", 4096)).isEqualTo(line + "\nlast\nnext\n");
  }

  @Test
  void writesALineBeforeTheNextBegins() throws IOException {
    var out = new ByteArrayOutputStream();
    var filter = new FrameFilter(out);

    filter.write("one\ntw".getBytes(StandardCharsets.UTF_8), 6);

    assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("one\n");
  }
}
