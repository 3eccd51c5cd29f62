package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.config.RunConfig;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("quick")
class RecipeOptionsTests {

  private static RecipeOptions options(String... arguments) {
    return TrainCommand.parse(List.of(arguments)).recipe;
  }

  private static RunConfig read(String... arguments) {
    return options(arguments).read();
  }

  @Test
  void appliesChangesInTheOrderOfTheCommandLineWhateverOptionTheyComeWith() {
    assertThat(read("--max-steps", "40", "--set", "max_steps=20").maxSteps()).isEqualTo(20);
    assertThat(read("--set", "max_steps=20", "--max-steps", "40").maxSteps()).isEqualTo(40);
    assertThat(read("--set=seed=1", "--max-steps=40", "--set=seed=2", "--set=epochs=2").epochs())
        .isEqualTo(2);
    assertThat(read("--init-from", "a", "--set", "init_from.path=b").initFrom().path())
        .hasToString("b");
    assertThat(read("--set", "init_from.strict=true", "--no-strict", "--init-from", "a").initFrom())
        .satisfies(from -> assertThat(from.strict()).isFalse());
  }

  @Test
  void handsChangesOnInTheSameOrder() {
    String[] given = {
      "--set", "seed=1", "--max-steps", "40", "--set", "seed=2", "--set", "epochs=3"
    };

    assertThat(options(given).arguments()).containsExactly(given);
    assertThat(read(given).seed()).isEqualTo(2);
    assertThat(read(given).maxSteps()).isNull();
  }

  @Test
  void putsWhatABenchmarkAsksForBelowAndAboveTheCommandLine() {
    var options = options("--set", "seed=5");
    options.setFirst(List.of("seed=1", "log_every=7"));

    assertThat(options.read().seed()).isEqualTo(5);
    assertThat(options.read().logEvery()).isEqualTo(7);
    assertThat(options.read("seed=9").seed()).isEqualTo(9);
  }
}
