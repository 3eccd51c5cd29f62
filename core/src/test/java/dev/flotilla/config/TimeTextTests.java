package dev.flotilla.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TimeTextTests {

  @ParameterizedTest
  @CsvSource({
    "60, PT1M, 60s",
    "60s, PT1M, 60s",
    "0.5, PT0.5S, 0.5s",
    "100, PT1M40S, 100s",
    "1500ms, PT1.5S, 1.5s",
    "0.25 ms, PT0.00025S, 0.00025s",
    "2m, PT2M, 120s",
    "1.5h, PT1H30M, 5400s",
    "0.000000001s, PT0.000000001S, 0.000000001s",
    "0, PT0S, 0s",
    "876000h, PT876000H, 3153600000s",
  })
  void readsTimesAndWritesThemInSeconds(String text, Duration time, String canonical) {
    assertThat(TimeText.parse(text)).contains(time);
    assertThat(TimeText.of(time)).isEqualTo(canonical);
    assertThat(TimeText.parse(canonical)).contains(time);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "s",
        "-1",
        "1d",
        "1e3",
        "1 s s",
        ".5",
        "soon",
        "1.",
        "876001h",
        "1.0000000001",
        "9999999999999"
      })
  void refusesTheRest(String text) {
    assertThat(TimeText.parse(text)).isEmpty();
  }
}
