package dev.flotilla.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

final class RecipeTests {

  @TempDir Path folder;

  private static void refuses(ThrowingCallable reading, String message) {
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(reading)
        .withMessage(message)
        .satisfies(e -> assertThat(e.problems().getFirst().where()).isNotEmpty());
  }

  private static void refusesText(String text, String message) {
    refuses(() -> Recipe.parse("r.yaml", text), message);
  }

  @Test
  void namesAFileThatIsMissing() {
    Path file = folder.resolve("none.yaml");
    refuses(() -> Recipe.read(file), file + ": there is no such recipe file");
  }

  @Test
  void refusesAFolder() {
    refuses(() -> Recipe.read(folder), folder + ": is a folder, but must be a recipe file");
  }

  @Test
  void refusesBinaryFiles() throws IOException {
    Path invalid = Files.write(folder.resolve("a"), new byte[] {'a', ':', ' ', (byte) 0xC3, '('});
    Path binary = Files.write(folder.resolve("b"), new byte[] {'a', ':', ' ', 0, 1});
    refuses(() -> Recipe.read(invalid), invalid + ": is not a text file in UTF-8");
    refuses(() -> Recipe.read(binary), binary + ": is a binary file, but must be text in UTF-8");
  }

  @Test
  void refusesALargeFile() throws IOException {
    Path file = Files.writeString(folder.resolve("big.yaml"), "#".repeat((1 << 20) + 1));
    refuses(() -> Recipe.read(file), file + ": is larger than 1 MB, which no recipe needs to be");
  }

  @Test
  void readsAFileWithByteOrderMarkAndWindowsLineEnds() throws IOException {
    String text =
        "\uFEFFmodel: lenet5\r\ndata: digits\r\nbatch: 8\r\noptimizer: adam\r\nseeds: 1\r\n";
    Path file = Files.writeString(folder.resolve("win.yaml"), text);
    var recipe = Recipe.read(file);
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> RunConfig.read(recipe, TestCatalogue.catalogue()))
        .withMessageStartingWith(file + ":5: seeds: unknown key; did you mean 'seed'?");
  }

  @Test
  void wantsOneMapping() {
    String must = "must be keys with values, such as 'model: lenet5', but was ";
    refusesText("", "r.yaml: " + must + "empty");
    refusesText("# nothing\n", "r.yaml: " + must + "empty");
    refusesText("\n- a\n", "r.yaml:2: " + must + "a list");
    refusesText("hello", "r.yaml:1: " + must + "'hello'");
    refusesText(
        "a: 1\n---\nb: 2\n", "r.yaml:2: must be one YAML document, but a second one starts here");
  }

  @Test
  void saysWhereTextStopsBeingYaml() {
    refusesText("a: [1, 2\nb: 3", "r.yaml:2:2: is not YAML: expected ',' or ']', but got :");
    refusesText("a: 'x\n", "r.yaml:2:1: is not YAML: found unexpected end of stream");
    refusesText(
        "a:\n\t- b",
        "r.yaml:2:1: is not YAML: found character '\\t(TAB)' that cannot start any token."
            + " (Do not use \\t(TAB) for indentation)");
    refusesText("a: 1\nb: \u0001", "r.yaml:2: is not YAML: character U+0001 is not allowed");
    refusesText(
        "%YAML 3.0\n---\na: 1", "r.yaml: is not YAML: only versions 1.1 and 1.2 of YAML are known");
  }

  @Test
  void refusesKeysThatAreNoWords() {
    refusesText("[a]: 1", "r.yaml:1: a key must be a word, but was a list");
    refusesText("a: 1\n\"\": 2", "r.yaml:2: a key must be a word, but was the text \"\"");
    refusesText("? {a: 1}\n: 2", "r.yaml:1: a key must be a word, but was a mapping");
  }

  @Test
  void limitsDepth() {
    Recipe.parse("r.yaml", "a: " + "[".repeat(49) + "]".repeat(49));
    refusesText(
        "a: " + "[".repeat(50) + "]".repeat(50), "r.yaml:1: is nested deeper than 50 levels");
    refusesText("a: " + "[".repeat(500_000), "r.yaml:1: is nested deeper than 50 levels");
    refusesText("a: " + "{b: ".repeat(200_000), "r.yaml:1: is nested deeper than 50 levels");
    refusesText("- ".repeat(400_000), "r.yaml:1: is nested deeper than 50 levels");
  }

  @Test
  void limitsDepthThroughAliases() {
    var text = new StringBuilder("a0: &a0 [x]\n");
    for (int i = 1; i < 60; i++) {
      text.append("a%d: &a%d [*a%d]\n".formatted(i, i, i - 1));
    }
    refusesText(text.toString(), "r.yaml:49: is nested deeper than 50 levels");
  }

  @Test
  @Timeout(5)
  void refusesAnAliasBombQuickly() {
    var text = new StringBuilder("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 30; i++) {
      text.append("a%d: &a%d [%s]\n".formatted(i, i, ("*a" + (i - 1) + ",").repeat(10)));
    }
    long start = System.nanoTime();
    refusesText(text.toString(), "r.yaml:5: has more than 100,000 values, aliases written out");
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(1));
  }

  @Test
  void refusesAliasesToNothingAndToThemselves() {
    refusesText("a: *b", "r.yaml:1: alias '*b' has no anchor that ends before it");
    refusesText("a: &a [*a]", "r.yaml:1: alias '*a' has no anchor that ends before it");
    refusesText("a: &a\n  b: *a", "r.yaml:2: alias '*a' has no anchor that ends before it");
  }

  @Test
  void takesAliasesWithinLimits() {
    var config =
        TestCatalogue.read(
            """
            model: lenet5
            data: digits
            batch: &size 32
            optimizer: adam
            eval: {batch: *size}
            """);
    assertThat(config.eval().batch()).isEqualTo(32);
  }
}
