package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostGpusTests {

  @TempDir Path listed;

  private HostGpus host(int gpus, Map<String, String> environment) throws IOException {
    for (int i = 0; i < gpus; i++) {
      Files.createDirectory(listed.resolve("0000:0" + i + ":00.0"));
    }
    return HostGpus.in(listed, environment);
  }

  @Test
  void countsWhatTheDriverLists() throws IOException {
    assertThat(host(2, Map.of()).count()).isEqualTo(2);
  }

  @Test
  void countsOnlyVisibleOnes() throws IOException {
    assertThat(host(4, Map.of("CUDA_VISIBLE_DEVICES", "2,3")).count()).isEqualTo(2);
    assertThat(HostGpus.in(listed, Map.of("CUDA_VISIBLE_DEVICES", "")).count()).isZero();
  }

  @Test
  void refusesAGpuThatIsNotThere() throws IOException {
    var host = host(1, Map.of());
    assertThat(host.problemWith(List.of(0))).isEmpty();
    assertThat(host.problemWith(List.of(7))).isEqualTo("this host has 1 GPU, numbered from 0");
  }

  @Test
  void refusesAllOfThemWithoutADriver() {
    assertThat(HostGpus.in(listed.resolve("none"), Map.of()).problemWith(List.of(0)))
        .contains("no NVIDIA GPU")
        .contains("leave it out");
  }
}
