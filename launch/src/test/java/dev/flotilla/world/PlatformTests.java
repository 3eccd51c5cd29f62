package dev.flotilla.world;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlatformTests {

  private static final Optional<String> GLIBC = Optional.of("2.36");

  @ParameterizedTest
  @CsvSource({"amd64, LINUX_X86_64", "aarch64, LINUX_ARM64"})
  void knowsItsTwoKindsOfLinux(String processor, Platform platform) {
    assertThat(Platform.of("Linux", processor, GLIBC)).isEqualTo(platform);
  }

  @Test
  void thisMachineIsOneOfThem() {
    assertThat(Platform.here().toString()).isIn("linux-x86_64", "linux-arm64");
  }

  @ParameterizedTest
  @CsvSource({
    "Mac OS X, aarch64, this is Mac OS X on aarch64: use a Linux machine",
    "Windows 11, amd64, WSL 2 (wsl --install)",
    "Linux, riscv64, this processor is 'riscv64'"
  })
  void refusesOtherSystemsAndSaysWhatToDo(String system, String processor, String words) {
    assertThatExceptionOfType(WorldException.class)
        .isThrownBy(() -> Platform.of(system, processor, GLIBC))
        .satisfies(refused -> assertThat(refused.exitCode()).isEqualTo(ExitCodes.USAGE))
        .withMessageStartingWith("Flotilla runs on Linux with glibc: on x86-64 from 2.35")
        .withMessageContaining(words)
        .satisfies(refused -> assertThat(refused.getMessage()).doesNotContain("\n"));
  }

  @ParameterizedTest
  @CsvSource({"amd64, 2.34", "aarch64, 2.27", "aarch64, 2.5.1"})
  void refusesAnOldCLibrary(String processor, String version) {
    assertThatExceptionOfType(WorldException.class)
        .isThrownBy(() -> Platform.of("Linux", processor, Optional.of(version)))
        .withMessageContaining("this one has " + version);
  }

  @ParameterizedTest
  @CsvSource({"amd64, 2.35", "amd64, 2.41", "aarch64, 2.28", "aarch64, 2.100"})
  void takesANewOne(String processor, String version) {
    assertThat(Platform.of("Linux", processor, Optional.of(version))).isNotNull();
  }

  @Test
  void refusesAnotherCLibrary() {
    assertThatExceptionOfType(WorldException.class)
        .isThrownBy(() -> Platform.of("Linux", "aarch64", Optional.empty()))
        .withMessageContaining("Alpine has musl");
  }
}
