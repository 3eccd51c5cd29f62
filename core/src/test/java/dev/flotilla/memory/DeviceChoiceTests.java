package dev.flotilla.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.settings.ConfigException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DeviceChoiceTests {

  private static final GpuHost NONE = new GpuHost(0, Optional.of("there is none"));
  private final List<String> notices = new ArrayList<>();

  private static GpuHost host(int gpus) {
    return new GpuHost(gpus, Optional.empty());
  }

  private ComputeDevice resolve(String text, int rank, int ranks, List<Integer> gpus, GpuHost on) {
    return DeviceChoice.parse(text).resolve(rank, ranks, gpus, on, notices::add);
  }

  @ParameterizedTest
  @ValueSource(strings = {"cpu", "cuda", "cuda:0", "cuda:12", "auto"})
  void isReadAsItIsWritten(String text) {
    assertThat(DeviceChoice.parse(text).text()).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"gpu", "cuda:", "cuda:x", "CUDA", "cuda:-1"})
  void refusesOtherWords(String text) {
    assertThatThrownBy(() -> DeviceChoice.parse(text))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("must be cpu, cuda, cuda:N or auto, but was '" + text + "'");
  }

  @Test
  void autoTakesMainMemoryWhereThereIsNoGpu() {
    assertThat(resolve("auto", 0, 1, List.of(), NONE)).isEqualTo(ComputeDevice.CPU);
    assertThat(resolve("auto", 0, 1, List.of(), host(1))).isEqualTo(ComputeDevice.cuda(0));
    assertThat(resolve("cpu", 0, 1, List.of(), host(1))).isEqualTo(ComputeDevice.CPU);
  }

  @ParameterizedTest
  @CsvSource({"cuda, cuda is asked for", "cuda:0, cuda:0 is asked for"})
  void saysWhyThereIsNoGpu(String text, String message) {
    assertThatThrownBy(() -> resolve(text, 0, 1, List.of(), NONE))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(message)
        .hasMessageContaining("there is none");
  }

  @Test
  void gpusThatWereAskedForAreNeverLeftOutInSilence() {
    assertThatThrownBy(() -> resolve("auto", 0, 1, List.of(0), NONE))
        .hasMessageContaining("a GPU is asked for, but there is none");
  }

  @Test
  void eachRankTakesItsOwn() {
    assertThat(resolve("cuda", 1, 2, List.of(), host(2))).isEqualTo(ComputeDevice.cuda(1));
    assertThat(resolve("cuda", 1, 2, List.of(3, 5), host(8))).isEqualTo(ComputeDevice.cuda(5));
    assertThat(resolve("cuda:3", 0, 1, List.of(), host(8))).isEqualTo(ComputeDevice.cuda(3));
    assertThat(notices).isEmpty();
  }

  @Test
  void saysOnceThatRanksShareAGpu() {
    assertThat(resolve("cuda", 0, 3, List.of(), host(2))).isEqualTo(ComputeDevice.cuda(0));
    assertThat(resolve("cuda", 2, 3, List.of(), host(2))).isEqualTo(ComputeDevice.cuda(0));
    assertThat(notices).singleElement().asString().startsWith("3 ranks share 2 GPUs");
  }

  @Test
  void refusesAGpuThatIsNotThere() {
    assertThatThrownBy(() -> resolve("cuda:7", 0, 1, List.of(), host(1)))
        .hasMessageContaining("GPU 7 is asked for, but this host has 1, numbered from 0");
    assertThatThrownBy(() -> resolve("cuda", 0, 1, List.of(7), host(1)))
        .hasMessageContaining("--gpus");
  }

  @Test
  void namesAllLibrariesThatAreMissingAndOtherVersionsOfThem() {
    assertThat(CudaLibraries.missing(_ -> true, null)).isEmpty();
    assertThat(CudaLibraries.missing(_ -> false, null).orElseThrow())
        .contains("no NVIDIA driver")
        .contains("libcuda.so.1");
    assertThat(
            CudaLibraries.missing(name -> !name.contains("cudart") && !name.contains("nccl"), "")
                .orElseThrow())
        .contains("does not find libcudart.so.13, libnccl.so.2")
        .contains("CUDA 13");
  }

  @Test
  void namesLibrariesOfAnotherMajorVersion(@org.junit.jupiter.api.io.TempDir java.nio.file.Path old)
      throws java.io.IOException {
    var found = java.nio.file.Files.createFile(old.resolve("libcudart.so.12"));
    assertThat(
            CudaLibraries.missing(name -> !name.contains("cudart"), old.toString()).orElseThrow())
        .contains("libcudart.so.13, only " + found);
  }
}
