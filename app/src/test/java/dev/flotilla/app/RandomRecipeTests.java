package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.config.Catalogue;
import dev.flotilla.config.Change;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.RunConfig;
import dev.flotilla.step.NumericalException;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.world.ExitCoded;
import dev.flotilla.world.World;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Whatever a recipe says, it is refused with a message or it trains. */
@Isolated
class RandomRecipeTests {

  private static final long SEED = 20;

  /** What trains here must be small; what is larger is planned alone. */
  private static final long MOST_BYTES = 16 << 20;

  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir Path folder;
  private final List<String> failures = new ArrayList<>();
  private int trained;

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  void everyApprovedOneOfFiftyTrains() {
    draw(50);
    assertThat(failures).isEmpty();
    assertThat(trained).isGreaterThan(12);
  }

  @Test
  @Tag("thorough")
  @Timeout(value = 60, unit = TimeUnit.MINUTES)
  void everyApprovedOneOfAThousandTrains() {
    draw(1000);
    assertThat(failures).isEmpty();
    assertThat(trained).isGreaterThan(250);
  }

  private void draw(int count) {
    for (int i = 0; i < count; i++) {
      String text = new RandomRecipe(SEED + i).next();
      int ranks = i % 4 == 3 ? 2 : 1;
      try {
        if (isApproved(text, ranks)) {
          check(text, train(text, ranks, folder.resolve("run" + i)));
          trained++;
        }
      } catch (NumericalException diverged) {
        // A learning rate of 1e300 is a recipe's right; that it does not learn is found in time.
        assertThat(text).contains("E300");
      } catch (Throwable failure) {
        failures.add("recipe %d on %d ranks: %s%n%s".formatted(i, ranks, text, root(failure)));
      }
    }
  }

  /** Does what {@code plan} does; whatever it throws that is no message is a failure. */
  private static boolean isApproved(String text, int ranks) {
    try {
      var run = run(text, List.of(), PlanCommand.worldOf(ranks));
      run.checkWeights();
      assertThat(PlanText.overview(run, run.plan(), PlanCommand.worldOf(ranks))).isNotEmpty();
      return run.memory().arenaBytes() <= MOST_BYTES;
    } catch (RuntimeException refused) {
      if (refused instanceof ExitCoded) {
        assertThat(refused.getMessage()).isNotBlank().doesNotContain("Exception");
        return false;
      }
      throw refused;
    }
  }

  private static void check(String text, Map<String, Object> summary) {
    assertThat(summary).containsEntry("updates", 3L);
    if (!text.contains("E300") && !text.contains("2147483647")) {
      assertThat(summary)
          .extracting("train_loss", "loss")
          .allSatisfy(loss -> assertThat((Double) loss).as("loss").isFinite());
    }
  }

  private static Map<String, Object> train(String text, int ranks, Path out) {
    var limited = List.of(Change.option("--max-steps", "max_steps", "3"));
    if (ranks == 1) {
      return run(text, limited, World.solo()).run(out, _ -> {});
    }
    return Ranks.of(ranks)
        .within(LIMIT)
        .callWorlds(world -> run(text, limited, world).run(out, _ -> {}))
        .getFirst();
  }

  private static ConfiguredRun run(String text, List<Change> changes, World world) {
    var recipe = Recipe.parse("recipe", text).overlay(changes);
    return new ConfiguredRun(RunConfig.read(recipe, Catalogue.installed()), world);
  }

  private static String root(Throwable failure) {
    var cause = failure;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return "%s, in the end because of %s at %s".formatted(failure, cause, place(cause));
  }

  private static String place(Throwable cause) {
    return Stream.of(cause.getStackTrace()).limit(6).toList().toString();
  }
}
