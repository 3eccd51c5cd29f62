package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class JvmOptionsTests {

  @Test
  void heapsOfRanksAreCollectedByOneThread() {
    assertThat(JvmOptions.ofRanks(Map.of())).contains("-XX:+UseSerialGC");
  }

  @Test
  void optionsOfTheUserReplaceTheDefault() {
    assertThat(options(" -Xmx8g  -XX:+UseG1GC "))
        .contains("-Xmx8g", "-XX:+UseG1GC")
        .doesNotContain("-XX:+UseSerialGC", "");
    assertThat(options("")).doesNotContain("-XX:+UseSerialGC", "");
  }

  private static Iterable<String> options(String chosen) {
    return JvmOptions.ofRanks(Map.of("FLOTILLA_JAVA_OPTIONS", chosen));
  }
}
