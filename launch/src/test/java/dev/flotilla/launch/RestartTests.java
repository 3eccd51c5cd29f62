package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
@Timeout(60)
class RestartTests {

  @TempDir Path folder;

  @Test
  void startsAllRanksAgainAfterAFailure() throws IOException {
    var launch = new Launch(folder).policy(FailurePolicy.defaults().withMaxRestarts(3));
    RankCommand plain = Launch.command("*:env:FLOTILLA_RESTART", "1:begin:9/9", "1:exit:1");
    var command =
        new RankCommand(
            plain.java(),
            plain.jvmOptions(),
            plain.classPath(),
            plain.mainClass(),
            plain.arguments(),
            List.of("*:env:FLOTILLA_RESTART", "*:env:TORCHELASTIC_RESTART_COUNT", "*:place"));

    LaunchResult result = launch.launcher().run(launch.settings(2), command, () -> {});

    assertThat(result).isEqualTo(LaunchResult.completed());
    assertThat(launch.err()).contains("rank 1 failed").contains("restart 1 of 3 in 1 s");
    assertThat(Files.readAllLines(launch.log(0)))
        .contains("FLOTILLA_RESTART=0", "---------- restart 1 ----------", "FLOTILLA_RESTART=1")
        .contains("TORCHELASTIC_RESTART_COUNT=1")
        .anyMatch(line -> line.contains("/rendezvous.1"));
  }

  @Test
  void stopsAfterThreeFailuresWithoutProgress() {
    var launch = new Launch(folder).policy(FailurePolicy.defaults().withMaxRestarts(10));

    LaunchResult result = launch.run(2, "1:begin:9/4", "1:exit:1", "0:sleep:30000");

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(launch.err())
        .contains("restart 1 of 10 in 1 s", "restart 2 of 10 in 2 s")
        .contains("not restarted: the job failed three times without getting past update 4")
        .doesNotContain("restart 3");
  }

  @Test
  void doesNotRestartWhatWouldFailAgain() {
    var launch = new Launch(folder).policy(FailurePolicy.defaults().withMaxRestarts(10));

    LaunchResult result = launch.run(1, "*:exit:2");

    assertThat(result.exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(launch.err())
        .contains("not restarted, as it would fail again")
        .doesNotContain("1 of");
  }
}
