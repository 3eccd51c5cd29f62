package dev.flotilla.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.settings.ConfigException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated // It sets a system property.
class GraphRecorderTests {

  private static final String SWITCH = "flotilla.graphs";

  @AfterEach
  void forget() {
    System.clearProperty(SWITCH);
  }

  @Test
  void isWantedUnlessSwitchedOff() {
    assertThat(GraphRecorder.isWanted()).isTrue();
    System.setProperty(SWITCH, "off");
    assertThat(GraphRecorder.isWanted()).isFalse();
    System.setProperty(SWITCH, "on");
    assertThat(GraphRecorder.isWanted()).isTrue();
  }

  @Test
  void saysWhatTheSwitchMayBe() {
    System.setProperty(SWITCH, "yes");
    assertThatThrownBy(GraphRecorder::isWanted)
        .isInstanceOf(ConfigException.class)
        .hasMessage("FLOTILLA_GRAPHS: must be on or off, but was 'yes'");
  }

  @Test
  void recordsNothingByItself() {
    GraphRecorder.drawFor(0);
    assertThat(GraphRecorder.seedHere()).isEmpty();
  }
}
