package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NativeTextTests {

  @Test
  void dropsTheSourceFileAndTheNativeFrames() {
    var failure =
        new RuntimeException("[/a/b/unbound_buffer.cc:78] Timed out waiting 1500ms\nframe #0: x");
    assertThat(NativeText.firstLine(failure)).isEqualTo("Timed out waiting 1500ms");
  }

  @Test
  void keepsAddressesInBrackets() {
    var failure = new RuntimeException("Connection closed by peer [127.0.0.1]:4711");
    assertThat(NativeText.firstLine(failure))
        .isEqualTo("Connection closed by peer [127.0.0.1]:4711");
  }
}
