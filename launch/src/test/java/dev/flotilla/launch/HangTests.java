package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("slow")
@Timeout(60)
class HangTests {

  private static final Duration NAMED_WITHIN = Duration.ofSeconds(10);

  @TempDir Path folder;

  /** The ranks that hang one after the other: two, and more by the profile {@code thorough}. */
  static IntStream hangs() {
    return IntStream.range(0, Integer.getInteger("flotilla.test.hangs", 2)).map(i -> i % 3);
  }

  @Execution(ExecutionMode.CONCURRENT)
  @ParameterizedTest
  @MethodSource("hangs")
  void namesAStoppedRankWithThreadDumpsOfTheOthers(int stopped) throws IOException {
    var launch = new Launch(folder);
    Path frozen = folder.resolve("frozen");

    LaunchResult result =
        launch.run(
            3,
            "*:begin:388/97",
            "*:collectives:811",
            stopped + ":touch:" + frozen,
            stopped + ":signal:STOP",
            "*:enter:all-reduce",
            "*:sleep:30000");

    assertThat(result.exitCode()).isEqualTo(ExitCodes.HANG);
    Failure failure = result.failure().orElseThrow();
    assertThat(failure.rank()).isEqualTo(stopped);
    String others = List.of("1,2", "0,2", "0,1").get(stopped);
    assertThat(failure.cause())
        .matches("silent for [89] s, at update 97, micro-step 388; it is stopped (?s:.*)")
        .contains(
            "ranks %s wait in all-reduce #812 (update 97); rank %d was last seen at update 97"
                .formatted(others, stopped))
        .containsPattern("after all-reduce #811, silent for [89] s");
    assertThat(launch.err())
        .containsPattern("rank %d \\(pid \\d+\\) on .* is silent for 5 s".formatted(stopped));
    int living = stopped == 0 ? 2 : 0;
    Path threads = launch.logs().resolve("threads.rank-%d.txt".formatted(living));
    assertThat(Duration.between(time(frozen), time(threads))).isLessThan(NAMED_WITHIN);
    assertThat(threads).content().contains("\"main\"", "TestProgram");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(threads)))
        .isEqualTo("rw-------");
    assertThat(launch.logs().resolve("collectives.rank-%d.jsonl".formatted(living)))
        .content()
        .hasLineCount(812)
        .endsWith("\"end_ns\":null,\"state\":\"started\"}\n");
  }

  /** The threads are written right after the rank is named. */
  private static Instant time(Path file) throws IOException {
    return Files.getLastModifiedTime(file).toInstant();
  }

  @Execution(ExecutionMode.CONCURRENT)
  @Test
  void takesAPauseOfThreeSecondsForNoHang() throws Exception {
    try (var launcher = LauncherProcess.start(folder, 2, "*:train:120/100", "*:print:over")) {
      launcher.awaitRanks(2).awaitLog(0, "");
      Thread.sleep(500);
      long victim = launcher.ranks().get(1).pid();

      LauncherProcess.signal("STOP", victim);
      Thread.sleep(3000);
      LauncherProcess.signal("CONT", victim);

      assertThat(launcher.await(30)).isZero();
      assertThat(launcher.out()).doesNotContain("silent").doesNotContain("stopped");
      assertThat(launcher.logOf(1)).contains("over");
    }
  }

  @Execution(ExecutionMode.CONCURRENT)
  @Test
  void takesALauncherThatWasStoppedItselfForNoHang() throws Exception {
    try (var launcher = LauncherProcess.start(folder, 2, "*:train:60/100")) {
      launcher.awaitRanks(2);
      Thread.sleep(500);

      LauncherProcess.signal("STOP", launcher.process().pid());
      Thread.sleep(7000);
      LauncherProcess.signal("CONT", launcher.process().pid());

      assertThat(launcher.await(30)).isZero();
      assertThat(launcher.out()).doesNotContain("silent");
    }
  }

  @Execution(ExecutionMode.CONCURRENT)
  @Test
  void blamesALivingRankThatTheOthersWaitedForInVain() {
    var launch = new Launch(folder);

    LaunchResult result =
        launch.run(
            2,
            "*:begin:388/97",
            "*:collectives:2",
            "0:enter:all-reduce",
            "0:sleep:12500",
            "0:peer:timed out after 12 s",
            "1:sleep:60000");

    Failure failure = result.failure().orElseThrow();
    assertThat(failure.rank()).isEqualTo(1);
    assertThat(result.exitCode()).isEqualTo(ExitCodes.HANG);
    assertThat(failure.cause()).contains("made no progress; rank 0 waited for it");
    assertThat(launch.err())
        .containsOnlyOnce(
            "makes no progress while others wait for it: rank 0 waits in all-reduce #3 (update 97);"
                + " rank 1 is outside of collectives, at update 97, micro-step 388, after"
                + " all-reduce #2");
    assertThat(launch.logs().resolve("threads.rank-1.txt")).content().contains("Thread.sleep");
  }
}
