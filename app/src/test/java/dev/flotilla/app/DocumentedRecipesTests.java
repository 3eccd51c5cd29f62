package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Recipes that the tutorial and the pages of techniques show can be planned. */
@Isolated
class DocumentedRecipesTests {

  private static final Path DOCS = Path.of("../docs");
  private static final Pattern BLOCK = Pattern.compile("(?s)```yaml\\n(.*?)```");

  /** What a part of a recipe is put on; keys that it states itself are left out. */
  private static final String BASE =
      """
      model: lenet5
      data: digits
      batch: 16
      epochs: 8
      optimizer: {name: momentum, lr: 0.05}
      """;

  @TempDir Path folder;

  static Stream<String> recipes() throws IOException {
    try (var pages = Files.list(DOCS.resolve("techniques"))) {
      return Stream.concat(pages.sorted(), Stream.of(DOCS.resolve("tutorial.md")))
          .flatMap(DocumentedRecipesTests::blocks)
          .toList()
          .stream();
    }
  }

  /** Returns the first recipe of the tutorial, which its commands name. */
  static String ofTheTutorial() {
    return blocks(DOCS.resolve("tutorial.md")).findFirst().orElseThrow();
  }

  private static Stream<String> blocks(Path page) {
    try {
      return BLOCK.matcher(Files.readString(page)).results().map(it -> it.group(1));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void thereAreMany() throws IOException {
    assertThat(recipes()).hasSizeGreaterThan(15);
  }

  @ParameterizedTest
  @MethodSource("recipes")
  void isARecipe(String part) throws IOException {
    assertThat(planned(part)).as(part).isEmpty();
  }

  @Test
  void aWrongOneIsFound() throws IOException {
    assertThat(planned("strategy: {recompute: {evry: 1}}\n")).contains("evry");
  }

  /** Returns the errors of planning it on two ranks. */
  private String planned(String part) throws IOException {
    var base =
        BASE.lines()
            .filter(line -> !part.startsWith(key(line)) && !part.contains("\n" + key(line)))
            .filter(line -> !line.startsWith("batch") || !part.contains("\nglobal_batch:"))
            .toList();
    var file = folder.resolve("recipe.yaml");
    Files.writeString(file, String.join("\n", base) + "\n" + part);
    var errors = new ByteArrayOutputStream();
    var out = System.out;
    var err = System.err;
    System.setOut(new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(errors, true, StandardCharsets.UTF_8));
    try {
      int code = Main.run(new String[] {"plan", file.toString(), "--nproc", "2"});
      return code == 0 ? "" : code + ": " + errors.toString(StandardCharsets.UTF_8);
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
  }

  private static String key(String line) {
    return line.substring(0, line.indexOf(':') + 1);
  }
}
