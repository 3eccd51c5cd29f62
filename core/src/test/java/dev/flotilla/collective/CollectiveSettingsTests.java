package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.settings.ConfigException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class CollectiveSettingsTests {

  @Test
  void waitsOneMinuteByDefault() {
    assertThat(CollectiveSettings.defaults().timeout()).isEqualTo(Duration.ofMinutes(1));
    assertThat(CollectiveSettings.defaults().joinTimeout()).isEqualTo(Duration.ofMinutes(1));
  }

  @Test
  void reportsAllProblemsTogether() {
    assertThatThrownBy(
            () -> new CollectiveSettings(Duration.ZERO, Duration.ofSeconds(-1), 0, GpuBackend.AUTO))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("timeout")
        .hasMessageContaining("join_timeout")
        .hasMessageContaining("threads");
  }
}
