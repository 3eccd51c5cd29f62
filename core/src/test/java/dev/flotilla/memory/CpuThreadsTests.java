package dev.flotilla.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.flotilla.memory.CpuThreads.Waiting;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.world.Platform;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CpuThreadsTests {

  @ParameterizedTest
  @CsvSource({
    "2, 1, 2, ACTIVE",
    "1, 1, 16, ACTIVE",
    "1, 2, 2, PASSIVE",
    "4, 1, 2, PASSIVE",
    "2, 4, 16, PASSIVE"
  })
  void threadsWaitActivelyWhereOneProcessHasTheCores(
      int threads, int ranks, int cores, Waiting waiting) {
    assertThat(new CpuThreads(threads, ranks, cores).waiting(Map.of())).isEqualTo(waiting);
  }

  @Test
  void theUserDecidesHowToWait() {
    var shared = new CpuThreads(1, 2, 2);
    var alone = new CpuThreads(2, 1, 2);
    assertThat(shared.waiting(Map.of("OMP_WAIT_POLICY", "ACTIVE"))).isEqualTo(Waiting.ACTIVE);
    assertThat(alone.waiting(Map.of("OMP_WAIT_POLICY", "passive"))).isEqualTo(Waiting.PASSIVE);
  }

  @Test
  void saysWhenThereAreMoreThreadsThanCores() {
    assertThat(new CpuThreads(2, 1, 2).isTooMany()).isFalse();
    assertThat(new CpuThreads(2, 2, 2).isTooMany()).isTrue();
    assertThat(new CpuThreads(1, 3, 2).isTooMany()).isFalse();
    assertThat(new CpuThreads(8, 1, 2).warning())
        .isEqualTo(
            "8 threads for each of 1 rank on 2 cores: they wait for each other; threads: 2 is as"
                + " quick");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, 10_000})
  void refusesImpossibleNumbers(int threads) {
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> CpuThreads.check(threads).orThrow())
        .withMessage("threads: must be from 1 to 1024, but was %d", threads);
  }

  @Test
  void helpersDoNotStartThreadsOfTheirOwn() throws InterruptedException {
    NativeLibraries.load();
    int before = torch.get_num_threads();
    try {
      new CpuThreads(2, 1, 2).apply();
      var seen = new AtomicInteger();
      var helper =
          CpuThreads.helpers(Thread.ofPlatform().factory())
              .newThread(() -> seen.set(torch.get_num_threads()));
      helper.start();
      helper.join();
      assertThat(seen).hasValue(1);
      assertThat(torch.get_num_threads()).isEqualTo(2);
    } finally {
      torch.set_num_threads(before);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'', LINUX_X86_64, false, OPENBLAS",
    "auto, LINUX_X86_64, true, MKL",
    "openblas, LINUX_X86_64, true, OPENBLAS",
    "MKL, LINUX_X86_64, true, MKL",
    "'', LINUX_ARM64, false, WHEEL",
    "openblas, LINUX_ARM64, false, WHEEL"
  })
  void choosesWhatComputesProducts(String asked, Platform platform, boolean isMklThere, Blas blas) {
    assertThat(Blas.chosen(Map.of("FLOTILLA_BLAS", asked), platform, isMklThere)).isEqualTo(blas);
  }

  @ParameterizedTest
  @CsvSource({
    "mkl, LINUX_X86_64, its libraries are not on the class path",
    "mkl, LINUX_ARM64, mkl is for x86-64 alone",
    "atlas, LINUX_X86_64, 'must be auto, openblas or mkl, but was ''atlas'''"
  })
  void refusesWhatIsAbsent(String asked, Platform platform, String words) {
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> Blas.chosen(Map.of("FLOTILLA_BLAS", asked), platform, false))
        .withMessageStartingWith("FLOTILLA_BLAS: ")
        .withMessageContaining(words);
  }
}
