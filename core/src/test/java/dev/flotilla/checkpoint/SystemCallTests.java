package dev.flotilla.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Kills or fails a saving process at each of its system calls, one after the other; needs strace.
 * It does them all on one thread, as strace counts by thread.
 */
@Tag("thorough")
class SystemCallTests {

  private static final int KILLED = 128 + 9;
  private static final int MOST_CALLS = 200;

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "mkdir, signal=SIGKILL",
    "rename, signal=SIGKILL",
    "fsync, signal=SIGKILL",
    "unlink, signal=SIGKILL",
    "rmdir, signal=SIGKILL",
    "write, signal=SIGKILL",
    "mkdir, error=EIO",
    "rename, error=EIO",
    "fsync, error=EIO",
    "unlink, error=EIO",
    "rmdir, error=EIO",
    "write, error=ENOSPC",
  })
  void noSystemCallLeavesAHalfCheckpoint(String call, String fault) throws Exception {
    requireStrace();
    int met = 0;
    while (true) {
      var place = Files.createDirectories(folder.resolve("place" + met));
      var end = run(place, call, "%s:when=%d".formatted(fault, met + 1));
      for (var checkpoint : Restorer.candidates(place)) {
        SavedCheckpoint.open(checkpoint).verifyAll();
      }
      if (!end.saved().isEmpty()) {
        var newest = SavedCheckpoint.positionOf(Restorer.candidates(place).getFirst());
        assertThat(newest).isGreaterThanOrEqualTo(SavedFolder.position(end.saved().getLast()));
      }
      if (!end.isFaultMet()) {
        assertThat(end.saved()).as("saved once no call is left to fail").containsExactly(1, 2, 3);
        break;
      }
      met++;
      assertThat(met).isLessThan(MOST_CALLS);
    }
    // Three checkpoints are made, each committed by a rename, and two are removed.
    assertThat(met).as("calls of %s that failed", call).isGreaterThanOrEqualTo(2);
  }

  private static void requireStrace() throws InterruptedException {
    try {
      var version = new ProcessBuilder("strace", "-V").redirectErrorStream(true).start();
      assumeTrue(version.waitFor(10, TimeUnit.SECONDS) && version.exitValue() == 0, "no strace");
    } catch (IOException missing) {
      abort("no strace here: " + missing.getMessage());
    }
  }

  /** What a run left: the checkpoints it said were saved, and whether a call failed. */
  private record End(List<Integer> saved, boolean isFaultMet) {}

  private End run(Path place, String call, String inject) throws IOException, InterruptedException {
    var output = folder.resolve("output");
    var trace = folder.resolve("trace");
    List<String> command = new ArrayList<>(List.of("strace", "-f", "-o", trace.toString()));
    command.addAll(List.of("-e", "trace=" + call));
    command.addAll(List.of("-e", "inject=" + call + ":" + inject));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-cp"));
    command.add(System.getProperty("java.class.path"));
    command.addAll(List.of(SaveThreeTimes.class.getName(), place.toString()));
    var process = new ProcessBuilder(command).redirectOutput(output.toFile()).start();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    int code = process.exitValue();
    boolean isFaultMet = code == KILLED || Files.readString(trace).contains("(INJECTED)");
    assertThat(code)
        .as("%s %s", call, inject)
        .isIn(isFaultMet ? List.of(0, 1, KILLED) : List.of(0));
    var saved =
        Files.readAllLines(output).stream()
            .filter(line -> line.startsWith("saved "))
            .map(line -> Integer.parseInt(line.substring(6)))
            .toList();
    return new End(saved, isFaultMet);
  }
}
