package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.world.ExitCodes;
import dev.flotilla.world.Platform;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What Linux on x86-64 has written (60 updates of job.yaml) is read on either platform. */
class OtherPlatformTests {

  private static final Path WRITTEN = Path.of("src/test/resources/dev/flotilla/app/x86-64");
  private static final String CHECKPOINT = "update-0000000040.step-0000000040";

  // As x86-64 reported them after 60 updates.
  private static final double LOSS = 1.781549530029297;
  private static final double ACCURACY = 0.286;

  @TempDir Path folder;
  private Flotilla flotilla = Flotilla.in(Path.of(""));

  @BeforeEach
  void copy() throws IOException {
    flotilla = Flotilla.in(folder);
    Files.createDirectories(flotilla.work().resolve(CHECKPOINT));
    for (var name : new String[] {"job.yaml", "model.safetensors"}) {
      Files.copy(WRITTEN.resolve(name), flotilla.work().resolve(name));
    }
    try (var files = Files.list(WRITTEN.resolve(CHECKPOINT))) {
      for (var file : files.toList()) {
        Files.copy(
            file, flotilla.work().resolve(CHECKPOINT).resolve(file.getFileName().toString()));
      }
    }
  }

  @Test
  void aCheckpointGoesOnToTheSameLoss() {
    var ended =
        flotilla
            .run("train", "job.yaml", "--resume", CHECKPOINT, "--out", "here", "--json")
            .expect(ExitCodes.OK);
    var summary = RunFiles.json(ended.out());
    assertThat(summary.get("updates").asLong()).isEqualTo(60);
    assertThat(summary.get("loss").asDouble()).isCloseTo(LOSS, within(1e-5));
    assertThat(summary.get("accuracy").asDouble()).isEqualTo(ACCURACY);
  }

  @Test
  void aResumedRunSaysThatItsPlatformHasChanged() {
    var out =
        flotilla
            .run("train", "job.yaml", "--resume", CHECKPOINT, "--out", "here")
            .expect(ExitCodes.OK)
            .out();
    var notice = "platform was linux-x86_64 when the checkpoint was saved and is linux-arm64 now";
    if (Platform.here() == Platform.LINUX_ARM64) {
      assertThat(out).contains(notice);
    } else {
      assertThat(out).doesNotContain("platform was");
    }
  }

  @Test
  void publishedWeightsAreTheSame() {
    var ended =
        flotilla
            .run(
                "train",
                "job.yaml",
                "--max-steps=1",
                "--set=init_from={path: model.safetensors}",
                "--set=optimizer={name: sgd, lr: 1.0e-12}",
                "--out=here",
                "--json")
            .expect(ExitCodes.OK);
    assertThat(RunFiles.json(ended.out()).get("loss").asDouble()).isCloseTo(LOSS, within(1e-5));
  }
}
