package dev.flotilla.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.settings.ConfigException;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Only one kind of exception ever comes out of a recipe, whatever is in it. */
@Tag("slow")
final class RecipeFuzzTests {

  private static final int MUTATIONS = Integer.getInteger("flotilla.test.mutations", 2_500);
  private static final String[] SPICE = {
    ":",
    "- ",
    "{",
    "}",
    "[",
    "]",
    "&a ",
    "*a",
    "!!int ",
    "!x ",
    "'",
    "\"",
    "#",
    "|\n",
    ">\n",
    "\t",
    "%YAML 1.1\n",
    "---\n",
    "...\n",
    "?",
    "\u0000",
    "\u0085",
    "\uD800",
    "\uFEFF",
    "~",
    "null",
    ".nan",
    "1e999",
    "99999999999",
    "\n",
    "  ",
    "\\u12",
    "<<: ",
    "@",
    "`",
    ",",
    "é",
    "😀",
    "%",
    "=",
    "name: ",
    "batch: 1\n",
    "global_batch: 2\n"
  };

  @Test
  void onlyRefusesWithProblemsThatHaveAPlace() {
    int refused = 0;
    for (int seed = 0; seed < MUTATIONS; seed++) {
      var random = new Random(seed);
      String recipe = mutated(RunConfigTests.FULL, random);
      String[] sets = random.nextInt(4) > 0 ? new String[0] : sets(random);
      refused += isRefused(seed, recipe, sets) ? 1 : 0;
    }
    assertThat(refused).isBetween(MUTATIONS / 3, MUTATIONS - 1);
  }

  private static boolean isRefused(int seed, String recipe, String... sets) {
    try {
      var config = TestCatalogue.read(recipe, sets);
      assertThat(config.facts()).isNotEmpty();
      return false;
    } catch (ConfigException e) {
      assertThat(e.problems())
          .as("seed %d", seed)
          .allSatisfy(p -> assertThat(p.where()).isNotEmpty())
          .allSatisfy(p -> assertThat(p.toString().lines()).hasSize(1));
      return true;
    } catch (RuntimeException | Error e) {
      throw new AssertionError("seed " + seed + " for\n" + recipe, e);
    }
  }

  private static String[] sets(Random random) {
    String set = mutated("optimizer.betas=[0.9, 0.99]", random);
    return new String[] {set};
  }

  private static String mutated(String text, Random random) {
    var mutated = new StringBuilder(text);
    for (int i = random.nextInt(3); i >= 0; i--) {
      mutate(mutated, random);
    }
    return mutated.toString();
  }

  private static void mutate(StringBuilder text, Random random) {
    int at = random.nextInt(text.length());
    int end = Math.min(text.length(), at + 1 + random.nextInt(8));
    String spice = SPICE[random.nextInt(SPICE.length)];
    switch (random.nextInt(5)) {
      case 0 -> text.insert(at, spice);
      case 1 -> text.delete(at, Math.min(end, text.length() - 1));
      case 2 -> text.replace(at, end, spice);
      case 3 -> text.insert(random.nextInt(text.length()), text.substring(at, end));
      default -> text.setCharAt(at, (char) (random.nextInt(96) + 32));
    }
  }
}
