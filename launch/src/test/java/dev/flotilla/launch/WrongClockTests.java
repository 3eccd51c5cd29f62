package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.flotilla.control.JobKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * C4: the clocks of two hosts are two hours apart, and both jump by up to ten minutes all the time.
 * Nobody is taken for silent, nothing is waited for too long or too short, and whoever fails first
 * is named as such. Needs libfaketime, which gives processes another time of day.
 */
@Tag("slow")
@Timeout(120)
class WrongClockTests {

  private static final int JOBS = Integer.getInteger("flotilla.test.clocks", 1);

  @TempDir Path folder;

  static Stream<Integer> jobs() {
    return IntStream.range(0, JOBS).boxed();
  }

  private static List<Path> libraries() {
    return Stream.of("x86_64-linux-gnu", "aarch64-linux-gnu", "")
        .map(it -> Path.of("/usr/lib", it, "faketime/libfaketimeMT.so.1"))
        .filter(Files::exists)
        .toList();
  }

  @ParameterizedTest
  @MethodSource("jobs")
  void nobodyIsLostAndTheRightRankIsNamed(int number) throws Exception {
    assumeTrue(!libraries().isEmpty(), "libfaketime is not installed (package faketime)");
    boolean fails = number % 2 == 0;
    var steps =
        new String[] {
          "*:link",
          "*:time",
          "*:train:250/20",
          fails ? "%d:throw:bad weather".formatted(number / 2 % 2) : "*:time",
          fails ? "*:sleep:30000" : "*:time"
        };
    try (var job = new HostLaunchers(folder, HostLaunchers.freePort(), JobKey.newText())) {
      LauncherProcess ahead = job.start(0, clock(0, 3600), steps);
      LauncherProcess behind = job.start(1, clock(1, -3600), steps);
      int jump = 0;
      while (ahead.process().isAlive() && behind.process().isAlive()) {
        Thread.sleep(100);
        jump++;
        clock(0, 3600 + 600 * (jump % 3 - 1));
        clock(1, -3600 + 600 * ((jump + number) % 3 - 1));
      }
      for (LauncherProcess host : List.of(ahead, behind)) {
        assertThat(host.await(30)).as(host.out()).isEqualTo(fails ? 1 : 0);
        assertThat(host.out()).doesNotContain("silent", "is lost", "is gone", "killed by SIGTERM");
        if (fails) {
          assertThat(host.out())
              .contains("flotilla: rank %d failed".formatted(number / 2 % 2), "bad weather");
        }
      }
      assertThat(time(ahead) - time(behind)).as("seconds apart").isBetween(5_000L, 9_500L);
    }
  }

  /** Sets the clock of a host; returns the variables that give it to processes. */
  private List<String> clock(int node, int seconds) throws IOException {
    Path file = folder.resolve("clock" + node);
    Path next = Files.writeString(folder.resolve("next" + node), "%+d".formatted(seconds));
    Files.move(next, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    return List.of(
        "LD_PRELOAD=" + libraries().getFirst(),
        "FAKETIME_TIMESTAMP_FILE=" + file,
        "FAKETIME_CACHE_DURATION=1",
        // Only the time of day is wrong on real hosts.
        "FAKETIME_DONT_FAKE_MONOTONIC=1",
        // With it, waits of the JVM that have an end return at once.
        "FAKETIME_FORCE_MONOTONIC_FIX=0");
  }

  private static long time(LauncherProcess host) {
    return host.logOf(0)
        .lines()
        .filter(line -> line.startsWith("time "))
        .mapToLong(line -> Long.parseLong(line.substring(5)))
        .findFirst()
        .orElseThrow();
  }
}
