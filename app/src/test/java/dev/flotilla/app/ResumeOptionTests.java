package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code --resume} and {@code eval} on checkpoints, as a user meets them. */
class ResumeOptionTests {

  @TempDir Path folder;
  private Flotilla flotilla = Flotilla.in(Path.of(""));

  @BeforeEach
  void prepare() throws IOException {
    flotilla = Flotilla.in(folder);
    Files.createDirectories(flotilla.work());
    Files.writeString(
        flotilla.work().resolve("job.yaml"),
        """
        model: {name: mlp, hidden: [16]}
        data: digits
        batch: 32
        max_steps: 6
        optimizer: {name: sgd, lr: 0.1}
        checkpoint: {every: 2}
        threads: 1
        """);
  }

  private Ended train(String... options) {
    var arguments = new String[options.length + 2];
    arguments[0] = "train";
    arguments[1] = "job.yaml";
    System.arraycopy(options, 0, arguments, 2, options.length);
    return flotilla.run(arguments);
  }

  private Path run(String name) {
    return flotilla.work().resolve(name);
  }

  @Test
  void aRunGoesOnFromWhereverTheUserSays() throws IOException {
    assertThat(train("--out", "whole", "--resume", "auto").expect(ExitCodes.OK).out())
        .contains("no checkpoint in whole/checkpoints: starting anew");
    var weights = new RunFiles(run("whole")).weights();

    assertThat(train("--out", "whole", "--resume", "auto").expect(ExitCodes.OK).out())
        .contains("the run in whole has ended; nothing is left to do");

    var checkpoint = "whole/checkpoints/update-0000000004.step-0000000004";
    assertThat(train("--out", "branch", "--resume", checkpoint).expect(ExitCodes.OK).out())
        .contains("resumed after update 4 from " + checkpoint);
    assertThat(new RunFiles(run("branch")).weights()).isEqualTo(weights);

    assertThat(train("--resume", "whole", "--max-steps", "8").expect(ExitCodes.OK).out())
        .contains("resumed after update 6 from whole/checkpoints")
        .contains("max_steps was 6 when the checkpoint was saved and is 8 now");
    assertThat(new RunFiles(run("whole")).summary().get("updates").asInt()).isEqualTo(8);

    assertThat(flotilla.run("eval", "--checkpoint", checkpoint).expect(ExitCodes.OK).out())
        .contains("on 2,000 samples");
    assertPrivate(run("whole"));
  }

  private static void assertPrivate(Path run) throws IOException {
    try (var paths = Files.walk(run)) {
      for (var path : paths.toList()) {
        assertThat(Files.getPosixFilePermissions(path).stream().map(Enum::name))
            .as("%s", path)
            .noneMatch(name -> name.startsWith("GROUP") || name.startsWith("OTHERS"));
      }
    }
  }

  @Test
  void aRunThatIsUnderWayIsLeftAlone() throws IOException {
    try (var job =
        flotilla.start("run", "--nproc=1", "job.yaml", "--max-steps=9999999", "--out=run")) {
      job.awaitTraining(run("run"));
      var endpoints = Files.getLastModifiedTime(run("run/log/endpoints.log"));
      for (var command : List.of("train", "run")) {
        var ended = flotilla.run(command, "job.yaml", "--out=run", "--resume=auto");
        assertThat(ended.expect(ExitCodes.USAGE).explainsItself().err())
            .contains("out: run is in use by process ");
      }
      assertThat(Files.getLastModifiedTime(run("run/log/endpoints.log"))).isEqualTo(endpoints);
      assertThat(job.process().isAlive()).isTrue();
    }
  }

  @Test
  void aRestartBeforeTheFirstSaveGoesOnFromTheNamedCheckpoint() {
    train("--out", "whole").expect(ExitCodes.OK);
    var checkpoint = "whole/checkpoints/update-0000000004.step-0000000004";
    var resumed = "resumed after update 4 from " + checkpoint;
    try (var job =
        flotilla.start(
            "run",
            "--nproc=1",
            "--max-restarts=1",
            "job.yaml",
            "--max-steps=9999999",
            "--set=checkpoint={every: end}",
            "--resume=" + checkpoint,
            "--out=branch")) {
      await(job, resumed, 1);
      Running.signal("KILL", job.rank(0));
      await(job, resumed, 2);
    }
  }

  private static void await(Running job, String text, int times) {
    Awaitility.await()
        .atMost(Running.PATIENCE)
        .until(() -> !job.process().isAlive() || job.out().split(text, -1).length > times);
    assertThat(job.process().isAlive()).as("%s\n%s", job.err(), job.out()).isTrue();
  }

  @Test
  void autoNeedsAFolder() {
    train("--resume", "auto").expect(ExitCodes.USAGE).explainsItself();
  }

  @Test
  void aPathWithoutCheckpointsIsNamed() {
    var ended = train("--out", "run", "--resume", "nowhere").expect(ExitCodes.CHECKPOINT);
    assertThat(ended.explainsItself().err()).contains("there is no checkpoint in nowhere");
    assertThat(run("run")).as("nothing is left behind").doesNotExist();
  }

  @Test
  void aReadOnlyFolderIsSaidBeforeTraining() throws IOException {
    Files.createFile(run("file"));
    var ended = train("--out", "run", "--set=checkpoint.dir=file/checkpoints");
    assertThat(ended.expect(ExitCodes.CHECKPOINT).explainsItself().err())
        .contains("cannot write checkpoints to")
        .contains("file/checkpoints");
  }
}
