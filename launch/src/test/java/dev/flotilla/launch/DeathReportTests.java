package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every cause of death is told completely, by the launcher and on all other ranks. */
@Tag("slow")
@Timeout(60)
class DeathReportTests {

  private static final Duration TOLD_WITHIN = Duration.ofSeconds(5);

  @TempDir Path folder;

  /** Each cause dies once, and more often by the profile {@code thorough}. */
  static Stream<Arguments> deaths() {
    int times = Integer.getInteger("flotilla.test.deaths", 1);
    return Stream.of(
            Arguments.of("halt:42", 42, "exit code 42: the program failed"),
            Arguments.of("exit:7", 7, "exit code 7: a loss or gradient is not finite"),
            Arguments.of("throw:bad weather", 1, "java.lang.IllegalStateException: bad weather"),
            Arguments.of("exhaust", 3, "java.lang.OutOfMemoryError: Java heap space"),
            Arguments.of("signal:KILL", 137, "killed by SIGKILL: by hand or by the kernel's"),
            Arguments.of("signal:SEGV", 1, "the JVM crashed: SIGSEGV (0xb) at pc="),
            Arguments.of("signal:ABRT", 134, "killed by SIGABRT: an abort in native code"))
        .flatMap(death -> Stream.generate(() -> death).limit(times));
  }

  @ParameterizedTest
  @MethodSource("deaths")
  void tellsOfEachDeathOnAllRanks(String death, int exitCode, String cause) throws IOException {
    var launch = new Launch(folder);
    Path ready = folder.resolve("ready");
    Path dying = folder.resolve("dying");

    LaunchResult result =
        launch.run(
            3,
            "*:link",
            "0:begin:391/97",
            "0:touch:" + ready,
            "2:touch:" + ready + 2,
            "1:await:" + ready,
            "1:await:" + ready + 2,
            "1:begin:390/97",
            "1:collectives:3",
            "1:print:last words",
            "1:touch:" + dying,
            "1:" + death,
            "*:sleep:30000");

    Failure failure = result.failure().orElseThrow();
    assertThat(result.exitCode()).isEqualTo(exitCode);
    assertThat(failure.rank()).isEqualTo(1);
    assertThat(failure.host()).isEqualTo(HostName.local());
    assertThat(failure.cause()).contains(cause);
    assertThat(failure.progress()).isEqualTo("update 97, micro-step 390");
    assertThat(failure.lastLines()).contains("last words");
    assertThat(launch.err()).contains(failure.report());
    assertToldOn(launch.log(0), failure, dying);
    assertToldOn(launch.log(2), failure, dying);
    assertThat(launch.logs().resolve("collectives.rank-1.jsonl"))
        .content()
        .startsWith(
            "{\"seq\":1,\"op\":\"all-reduce\",\"type\":\"Float\",\"bytes\":4096,\"update\":97,")
        .hasLineCount(3);
  }

  private static void assertToldOn(Path log, Failure failure, Path dying) throws IOException {
    assertThat(log)
        .content()
        .contains(
            "flotilla: rank 1 on %s (pid %d) failed at update 97, micro-step 390: %s"
                .formatted(failure.host(), failure.pid(), failure.cause()))
        .contains("  log      " + failure.log())
        .contains("    | last words");
    Duration took =
        Duration.between(
            Files.getLastModifiedTime(dying).toInstant(),
            Files.getLastModifiedTime(log).toInstant());
    assertThat(took).isLessThan(TOLD_WITHIN);
  }

  @Test
  void namesARankThatLeftWithoutAnError() {
    var launch = new Launch(folder);
    Path left = folder.resolve("left");

    LaunchResult result =
        launch.run(
            2,
            "1:begin:5/5",
            "1:touch:" + left,
            "0:await:" + left,
            "0:sleep:500",
            "0:peer:reset by peer");

    Failure failure = result.failure().orElseThrow();
    assertThat(failure.rank()).isEqualTo(1);
    assertThat(failure.end()).isEqualTo("exit code 0, too early");
    assertThat(failure.cause())
        .contains("ended with exit code 0 before the others were done; rank 0 waited for it");
    assertThat(result.exitCode()).isEqualTo(5);
  }
}
