package dev.flotilla.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.flotilla.optim.Optimizer;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Setting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Settings records of any shape, apart from those of a run. */
final class SettingsBinderTests {

  enum Mood {
    CALM,
    VERY_BUSY
  }

  record Inner(@Setting(doc = "A number.", def = "7") int manyWords) {}

  record All(
      @Setting(doc = "") int whole,
      @Setting(doc = "") long big,
      @Setting(doc = "") double real,
      @Setting(doc = "") boolean yes,
      @Setting(doc = "") String text,
      @Setting(doc = "") Mood mood,
      @Setting(doc = "") Path path,
      @Setting(doc = "") Duration time,
      @Setting(doc = "") List<List<Double>> numbers,
      @Setting(doc = "") Inner inner,
      @Setting(doc = "") List<Inner> inners,
      @Setting(doc = "") Optimizer nested,
      @Setting(doc = "", def = "null") @Nullable Double maybe) {}

  record Range(@Setting(doc = "") int from, @Setting(doc = "") int to) {
    Range {
      if (from > to) {
        throw new IllegalArgumentException("from must not be greater than to");
      }
    }
  }

  record Buggy(@Setting(doc = "", def = "1") int key) {
    Buggy {
      if (key == 1) {
        throw new UnsupportedOperationException("a bug");
      }
    }
  }

  record Undocumented(int key) {}

  record Published(
      @Setting(doc = "") int size,
      @Setting(doc = "") double rate,
      @Setting(doc = "") Mood mood,
      @Setting(doc = "") List<Double> steps,
      @Setting(doc = "") @Nullable Integer classes,
      @Setting(doc = "", def = "3") int stated) {
    Published() {
      this(768, 20, Mood.VERY_BUSY, List.of(0.999, 1.0), null, 2);
    }
  }

  private static <T extends Record> T bind(String text, Class<T> type) {
    return SettingsBinder.bind(Recipe.parse("r.yaml", text), type, TestCatalogue.catalogue());
  }

  @Test
  void bindsEveryType() {
    var all =
        bind(
            """
            whole: -0007
            big: +9000000000
            real: 1e3
            yes: True
            text: on
            mood: very_busy
            path: a b/c
            time: 2m
            numbers: [[1, .5], []]
            inner: {many_words: 3}
            inners: [{many_words: 1}, {}, null]
            nested: {name: sgd, lr: 1}
            """,
            All.class);
    assertThat(all)
        .isEqualTo(
            new All(
                -7,
                9_000_000_000L,
                1000,
                true,
                "on",
                Mood.VERY_BUSY,
                Path.of("a b/c"),
                Duration.ofMinutes(2),
                List.of(List.of(1.0, 0.5), List.of()),
                new Inner(3),
                List.of(new Inner(1), new Inner(7), new Inner(7)),
                new TestCatalogue.Sgd(1),
                null));
  }

  @Test
  void takesDefaultsFromTheConstructorWithoutParameters() {
    assertThat(bind("{}", Published.class))
        .isEqualTo(new Published(768, 20, Mood.VERY_BUSY, List.of(0.999, 1.0), null, 3));
    assertThat(SettingsShape.of(Published.class).keys())
        .extracting(key -> key.def().orElseThrow())
        .containsExactly("768", "20", "very_busy", "[0.999, 1]", "null", "3");
  }

  @Test
  void namesEveryMissingKeyAtOnce() {
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> bind("maybe: 1", All.class))
        .satisfies(e -> assertThat(e.problems()).hasSize(12));
  }

  @Test
  void namesTheItemOfAList() {
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> bind("inners: [{}, {many_words: x}, {many: 1}]", All.class))
        .withMessageContaining(
            "r.yaml:1: inners[1].many_words: must be a whole number, but was 'x'")
        .withMessageContaining("r.yaml:1: inners[2].many: unknown key");
  }

  @Test
  void reportsWhatAConstructorRefusesInItsOwnWay() {
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> bind("{from: 2, to: 1}", Range.class))
        .withMessage("r.yaml: from must not be greater than to");
  }

  @Test
  void doesNotDressABugAsAMistakeOfTheUser() {
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> bind("{}", Buggy.class))
        .withMessage("a bug");
  }

  @Test
  void wantsEveryComponentDocumented() {
    assertThatIllegalStateException()
        .isThrownBy(() -> bind("{}", Undocumented.class))
        .withMessageContaining("Undocumented");
  }
}
