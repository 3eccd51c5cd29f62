package dev.flotilla.app.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.app.doctor.HostFacts.Disk;
import dev.flotilla.app.doctor.HostFacts.Gpus;
import dev.flotilla.app.doctor.HostFacts.Job;
import dev.flotilla.app.doctor.HostFacts.Memory;
import dev.flotilla.app.doctor.HostFacts.Natives;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HostChecksTests {

  private static final long GIB = 1L << 30;
  private static final Job TWO = new Job(2, 1, 0, Optional.empty(), 29500);

  /** What is not well says what it means and what mends it; what is well says neither. */
  private static void assertLevel(Finding finding, Level level) {
    assertThat(finding.level()).as(finding.toString()).isEqualTo(level);
    assertThat(finding.meaning().isEmpty()).isEqualTo(level == Level.OK);
    assertThat(finding.fix().isEmpty()).isEqualTo(level == Level.OK);
  }

  @ParameterizedTest
  @CsvSource({"25, WARNING", "25.0.2, WARNING", "25.0.3, OK", "25.0.3+9-LTS, OK", "26, OK"})
  void jdksThatMoveArraysAreWarnedOf(String version, Level level) {
    assertLevel(HostChecks.jdk(Runtime.Version.parse(version), "/jdk"), level);
  }

  @Test
  void nativesMustBeUnpackedAndPrivate() {
    assertLevel(HostChecks.natives(new Natives("2.1", true, "/c", Optional.empty())), Level.OK);
    assertLevel(
        HostChecks.natives(new Natives("2.1", false, "/c", Optional.empty())), Level.WARNING);
    assertLevel(
        HostChecks.natives(new Natives("2.1", false, "", Optional.of("/c is not yours"))),
        Level.ERROR);
  }

  @Test
  void instructionsAreReadOnBothPlatforms() {
    var x86 = "processor\t: 0\nflags\t\t: fpu sse2 avx2 avx512f avx512_bf16\n";
    var arm = "processor\t: 0\nFeatures\t: fp asimd bf16\n";

    assertThat(HostChecks.cpu(x86, 8, 2).seen())
        .isEqualTo("8 cores, instructions: avx2 avx512_bf16 avx512f");
    assertThat(HostChecks.cpu(arm, 1, 1).seen()).isEqualTo("1 core, instructions: asimd bf16");
    assertThat(HostChecks.cpu("Features: asimd", 2, 1).seen()).contains("no bf16");
    assertLevel(HostChecks.cpu("flags : fpu sse2 avx", 8, 2), Level.WARNING);
    assertLevel(HostChecks.cpu(arm, 2, 3), Level.WARNING);
  }

  @Test
  void aBusyHostIsWarnedOf() {
    assertLevel(HostChecks.load(1.9, 4), Level.OK);
    assertLevel(HostChecks.load(2.1, 4), Level.WARNING);
  }

  @Test
  void gpusNeedTheRightBuildAndDriver() {
    var driver = Optional.of("580.65.06");
    assertLevel(HostChecks.gpu(new Gpus(Optional.empty(), 0, false)), Level.OK);
    assertLevel(HostChecks.gpu(new Gpus(driver, 2, true)), Level.OK);
    assertLevel(HostChecks.gpu(new Gpus(driver, 2, false)), Level.WARNING);
    assertLevel(HostChecks.gpu(new Gpus(Optional.empty(), 0, true)), Level.WARNING);
    assertLevel(HostChecks.gpu(new Gpus(Optional.of("535.12"), 1, true)), Level.ERROR);
    assertLevel(HostChecks.gpu(new Gpus(Optional.empty(), 1, true)), Level.ERROR);
  }

  @Test
  void theControlGroupsLimitCounts() {
    assertLevel(HostChecks.memory(new Memory(16 * GIB, 8 * GIB, 0, 0), 2), Level.OK);
    assertLevel(HostChecks.memory(new Memory(16 * GIB, GIB, 0, 0), 2), Level.WARNING);
    var limited = HostChecks.memory(new Memory(16 * GIB, 8 * GIB, 2 * GIB, 3 * GIB / 2), 2);
    assertLevel(limited, Level.ERROR);
    assertThat(limited.seen())
        .isEqualTo("0.5 GiB free of 16.0 GiB, a control group allows 2.0 GiB");
    assertThat(limited.fix()).contains("container");
  }

  @Test
  void runsNeedAPlaceThatStays() {
    assertLevel(HostChecks.disk(new Disk("/r", 100 * GIB, "ext4", true)), Level.OK);
    assertLevel(HostChecks.disk(new Disk("/r", GIB, "ext4", true)), Level.WARNING);
    assertLevel(HostChecks.disk(new Disk("/r", 100 * GIB, "tmpfs", true)), Level.WARNING);
    assertLevel(HostChecks.disk(new Disk("/r", 100 * GIB, "ext4", false)), Level.ERROR);
  }

  @Test
  void descriptorsMustDoForAllRanks() {
    assertLevel(HostChecks.descriptors(1024, 4096, TWO), Level.OK);
    var many = new Job(8, 16, 0, Optional.of("a"), 1);
    var few = HostChecks.descriptors(1024, 4096, many);
    // 256 + 8 * 128.
    assertLevel(few, Level.ERROR);
    assertThat(few.fix()).isEqualTo("ulimit -n 1280");
    assertThat(HostChecks.descriptors(1024, 1024, many).fix()).contains("limits.conf");
  }

  @Test
  void limitsAreReadFromTheKernelsTable() {
    var limits =
        """
        Limit                     Soft Limit           Hard Limit           Units
        Max open files            1024                 524288               files
        """;
    assertThat(HostChecks.openFiles(limits)).containsExactly(1024L, 524288L);
    assertThat(HostChecks.openFiles(limits.replace("524288   ", "unlimited")))
        .containsExactly(1024L, Long.MAX_VALUE);
  }

  @Test
  void aCheckThatFailsSaysSoAndHasNoTrace() {
    var finding =
        HostReader.guarded(
            "disk",
            () -> {
              throw new java.io.IOException("/r: input/output error");
            });

    assertLevel(finding, Level.WARNING);
    assertThat(finding.seen()).isEqualTo("could not be checked: /r: input/output error");
  }

  @Test
  void everyCheckIsMadeOnThisHost() {
    var findings = new HostReader(TWO, java.nio.file.Path.of("runs")).look();

    assertThat(findings)
        .extracting(Finding::check)
        .isEqualTo(
            List.of(
                "jdk",
                "natives",
                "cpu",
                "load",
                "gpu",
                "memory",
                "disk",
                "descriptors",
                "interfaces",
                "names",
                "master",
                "ports"));
    assertThat(findings).extracting(Finding::seen).noneMatch(it -> it.startsWith("could not"));
  }
}
