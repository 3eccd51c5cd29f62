package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A request to stop ends all ranks after one and the same micro-step. */
@Tag("slow")
@Timeout(60)
class StopTests {

  private static final Pattern SAVED = Pattern.compile("saved after (\\d+)");

  @TempDir Path folder;

  @Execution(ExecutionMode.CONCURRENT)
  @ParameterizedTest
  @CsvSource({"TERM, launcher", "USR1, launcher", "TERM, rank", "TERM, group"})
  void allRanksStopAfterTheSameMicroStep(String signal, String whom) throws Exception {
    try (var launcher =
        LauncherProcess.start(
            folder,
            3,
            "*:link",
            "*:begin:0/0",
            "*:print:begun",
            "*:train:100000/20",
            "*:print:not stopped")) {
      awaitBegun(launcher, 3);

      LauncherProcess.signal(signal, pid(launcher, whom));

      assertThat(launcher.await(20)).isEqualTo(ExitCodes.STOPPED);
      List<String> saved =
          IntStream.range(0, 3).mapToObj(rank -> saved(launcher.logOf(rank))).toList();
      assertThat(saved).as(launcher.out()).doesNotContain("never").containsOnly(saved.getFirst());
      assertThat(launcher.out())
          .contains("asked to stop (SIG%s); the ranks agree on where".formatted(signal))
          .contains("all ranks stop after micro-step %s and save".formatted(saved.getFirst()))
          .doesNotContain("failed");
      assertThat(launcher.ranks()).noneMatch(ProcessHandle::isAlive);
    }
  }

  private static void awaitBegun(LauncherProcess launcher, int ranks) throws IOException {
    launcher.awaitRanks(ranks);
    IntStream.range(0, ranks).forEach(rank -> launcher.awaitLog(rank, "begun"));
  }

  private static long pid(LauncherProcess launcher, String whom) {
    return switch (whom) {
      case "rank" -> launcher.ranks().get(1).pid();
      case "group" -> -launcher.process().pid();
      default -> launcher.process().pid();
    };
  }

  private static String saved(String log) {
    Matcher matcher = SAVED.matcher(log);
    return matcher.find() ? matcher.group(1) : "never";
  }

  @Execution(ExecutionMode.CONCURRENT)
  @Test
  void ranksThatEndBeforeTheAgreedMicroStepHaveSucceeded() throws Exception {
    try (var launcher =
        LauncherProcess.start(
            folder, 2, "*:link", "*:begin:7/7", "*:print:begun", "*:sleep:3000", "*:print:end")) {
      awaitBegun(launcher, 2);

      LauncherProcess.signal("TERM", launcher.process().pid());

      assertThat(launcher.await(20)).isZero();
      assertThat(launcher.out()).contains("all ranks stop after micro-step 8 and save");
      assertThat(launcher.logOf(1)).contains("end");
    }
  }

  @Execution(ExecutionMode.CONCURRENT)
  @Test
  void aSecondSignalLeavesAtOnce() throws Exception {
    try (var launcher =
        LauncherProcess.start(
            folder, 2, "*:link", "*:begin:7/7", "*:print:begun", "*:sleep:30000")) {
      awaitBegun(launcher, 2);

      LauncherProcess.signal("TERM", launcher.process().pid());
      Thread.sleep(500);
      LauncherProcess.signal("TERM", launcher.process().pid());

      assertThat(launcher.await(10)).isEqualTo(143);
      assertThat(launcher.out()).contains("interrupted; stopping 2 ranks");
      assertThat(launcher.ranks()).noneMatch(ProcessHandle::isAlive);
    }
  }
}
