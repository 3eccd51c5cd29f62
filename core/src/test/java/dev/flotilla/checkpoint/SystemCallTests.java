package dev.flotilla.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

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
 */
@Tag("thorough")
class SystemCallTests {

  private static final int KILLED = 128 + 9;

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
    int hits = 0;
    for (int when = 1; when <= 80; when++) {
      var place = Files.createDirectories(folder.resolve(call + when));
      var output = run(place, call, "%s:when=%d".formatted(fault, when));
      for (var checkpoint : Restorer.candidates(place)) {
        SavedCheckpoint.open(checkpoint).verifyAll();
      }
      long returned = output.lines().filter(line -> line.startsWith("saved ")).count();
      if (returned > 0) {
        var newest = SavedCheckpoint.positionOf(Restorer.candidates(place).getFirst());
        assertThat(newest).isGreaterThanOrEqualTo(last(output));
      }
      if (returned == 3) {
        break;
      }
      hits++;
    }
    assertThat(hits).as("faults in %s that were met", call).isPositive();
  }

  private static Position last(String output) {
    var line = output.lines().filter(it -> it.startsWith("saved ")).reduce((a, b) -> b);
    return SavedFolder.position(Integer.parseInt(line.orElseThrow().substring(6)));
  }

  private String run(Path place, String call, String inject)
      throws IOException, InterruptedException {
    var output = folder.resolve("output");
    List<String> command = new ArrayList<>(List.of("strace", "-f", "-o", "/dev/null"));
    command.addAll(List.of("-e", "trace=" + call));
    command.addAll(List.of("-e", "inject=" + call + ":" + inject));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-cp"));
    command.add(System.getProperty("java.class.path"));
    command.addAll(List.of(SaveThreeTimes.class.getName(), place.toString()));
    var process = new ProcessBuilder(command).redirectOutput(output.toFile()).start();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(inject).isIn(0, 1, KILLED);
    return Files.readString(output);
  }
}
