package dev.flotilla.board.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.text.Secrets;
import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunFollowerTests {

  @TempDir Path temp;
  private RunFolders files;

  @BeforeEach
  void begin() throws IOException {
    files = RunFolders.begun(temp.resolve("one"), "{\"model\":{\"name\":\"lenet5\"},\"batch\":64}");
  }

  private Path folder() {
    return files.folder();
  }

  private static List<Double> losses(Run run) {
    var loss = run.series("loss", "training").orElseThrow();
    return IntStream.range(0, loss.size()).mapToObj(loss::value).toList();
  }

  @Test
  void readsCurvesTimelineAndFacts() throws IOException {
    files.update(10, 2.5).update(20, 1.5);
    files.event(
        "evaluated",
        "\"epoch\":0,\"update\":20,\"loss\":0.5,\"acc1\":0.75,\"acc5\":0.9,\"samples\":2000,"
            + "\"metrics\":{\"ema/loss\":0.25,\"f1\":0.5,\"confusion\":[[1,2],[3,4]]}");
    files.event("saved", "\"update\":20,\"micro_steps\":20");
    var run = Run.read(folder());

    assertThat(losses(run)).containsExactly(2.5, 1.5);
    assertThat(run.series("loss", "training").orElseThrow().update(1)).isEqualTo(20);
    assertThat(run.series("loss", "test").orElseThrow().last()).isEqualTo(0.5);
    assertThat(run.series("loss", "ema").orElseThrow().last()).isEqualTo(0.25);
    assertThat(run.series("f1", "test").orElseThrow().last()).isEqualTo(0.5);
    assertThat(run.series("accuracy", "training batch")).as("null in the events").isEmpty();
    assertThat(run.series()).noneMatch(it -> it.key().chart().equals("confusion"));
    assertThat(run.timeline())
        .extracting(Moment::kind)
        .containsExactly(Moment.Kind.EVALUATION, Moment.Kind.CHECKPOINT);
    assertThat(run.timeline().getFirst().text()).isEqualTo("test loss 0.5000, accuracy 75.00 %");
    assertThat(run.ranks()).isEqualTo(2);
    assertThat(run.parameters()).isEqualTo(61_706);
    assertThat(run.configuration()).containsEntry("batch", 64);
    assertThat(run.isFinished()).isFalse();
  }

  @Test
  void readsOnWhereItHasEnded() throws IOException {
    files.update(10, 2.5);
    var follower = new RunFollower(folder());
    assertThat(follower.poll()).isTrue();
    var before = follower.run();
    assertThat(follower.poll()).as("nothing has come").isFalse();

    files.update(20, 1.5);
    assertThat(follower.poll()).isTrue();
    assertThat(losses(follower.run())).containsExactly(2.5, 1.5);
    assertThat(losses(before)).as("what was handed out stays").containsExactly(2.5);
  }

  @Test
  void waitsForTheRestOfALine() throws IOException {
    files.update(10, 2.5);
    var line = RunFolders.line("updated", "\"update\":20,\"loss\":1.5") + "\n";
    files.raw("events.jsonl", line.substring(0, 30));
    var follower = new RunFollower(folder());
    follower.poll();
    assertThat(losses(follower.run())).containsExactly(2.5);

    files.raw("events.jsonl", line.substring(30));
    assertThat(follower.poll()).isTrue();
    assertThat(losses(follower.run())).containsExactly(2.5, 1.5);
  }

  /** A run that goes on from a checkpoint cuts its events there. */
  @Test
  void startsOverWhenEventsWereCut() throws IOException {
    files.update(10, 2.5);
    long place = Files.size(folder().resolve("events.jsonl"));
    files.update(20, 1.5).update(30, 0.5);
    var follower = new RunFollower(folder());
    follower.poll();

    cut(place);
    follower.poll();
    assertThat(losses(follower.run())).containsExactly(2.5);
    assertThat(follower.run().ranks()).isEqualTo(2);
  }

  /** Between two looks a file may be cut and grow beyond the place of the first. */
  @Test
  void startsOverWhenEventsWereCutAndGrewAgain() throws IOException {
    files.update(10, 2.5);
    long place = Files.size(folder().resolve("events.jsonl"));
    files.update(20, 1.5);
    var follower = new RunFollower(folder());
    follower.poll();

    cut(place);
    files.update(20, 1.25).update(30, 0.75).update(40, 0.5);
    assertThat(follower.poll()).isTrue();
    assertThat(losses(follower.run())).containsExactly(2.5, 1.25, 0.75, 0.5);
  }

  private void cut(long place) throws IOException {
    try (var file = new RandomAccessFile(folder().resolve("events.jsonl").toFile(), "rw")) {
      file.setLength(place);
    }
  }

  @Test
  void measurementsBehindARestartAreVoid() throws IOException {
    files.measured("timed", "\"update\":10,\"resident_bytes\":100,\"seconds\":{\"forward\":1.0}");
    files.measured("timed", "\"update\":20,\"resident_bytes\":200,\"seconds\":{\"forward\":2.0}");
    files.measured("resumed", "\"checkpoint\":\"x\",\"update\":10");
    files.measured("timed", "\"update\":15,\"resident_bytes\":150,\"seconds\":{\"forward\":0.5}");
    var run = Run.read(folder());

    var memory = run.series("memory", "resident").orElseThrow();
    assertThat(List.of(memory.update(0), memory.update(1))).containsExactly(10.0, 15.0);
    assertThat(memory.last()).isEqualTo(150);
    assertThat(run.timeline()).extracting(Moment::kind).containsExactly(Moment.Kind.RESTART);
    assertThat(run.stepTimes()).containsExactly(new StepTime(0, 0, 0.5, 0, 0, 0, 0, 0));
  }

  @Test
  void aFinishedRunHasTheTimesOfAllRanks() throws IOException {
    files.raw(
        "summary.json",
        "{\"accuracy\":0.9,\"configuration\":{\"batch\":64},\"step_seconds\":["
            + "{\"data\":1,\"forward\":2,\"backward\":3,\"exchange\":4,\"update\":5,\"other\":6,\"hidden\":0.5},"
            + "{\"data\":2}]}");
    var run = Run.read(folder());
    assertThat(run.isFinished()).isTrue();
    assertThat(run.summary()).containsEntry("accuracy", 0.9).doesNotContainKey("configuration");
    assertThat(run.stepTimes())
        .containsExactly(
            new StepTime(0, 1, 2, 3, 4, 5, 6, 0.5), new StepTime(1, 2, 0, 0, 0, 0, 0, 0));
    assertThat(run.stepTimes().getFirst().total()).isEqualTo(21);
  }

  @Test
  void lossesThatAreNotFiniteStay() throws IOException {
    files.update(10, 2.5).update(20, Double.NaN).update(30, Double.POSITIVE_INFINITY);
    assertThat(losses(Run.read(folder())))
        .containsExactly(2.5, Double.NaN, Double.POSITIVE_INFINITY);
  }

  @Test
  void tellsSkipsAndStragglersFromOtherNotes() throws IOException {
    files.event(
        "noted", "\"text\":\"the loss is not finite; the accumulation window is left out\"");
    files.event("noted", "\"text\":\"amp: a gradient overflowed, update skipped (1 so far)\"");
    files.event("noted", "\"text\":\"the learning rate falls after update 3\"");
    assertThat(Run.read(folder()).timeline())
        .extracting(Moment::kind)
        .containsExactly(Moment.Kind.SKIP, Moment.Kind.SKIP, Moment.Kind.NOTE);
  }

  @Test
  void aDamagedLineIsNamed() throws IOException {
    files.update(10, 2.5).raw("events.jsonl", "{\"event\":\"upd\n").update(20, 1.5);
    assertThatThrownBy(() -> Run.read(folder()))
        .isInstanceOf(RunException.class)
        .hasMessageContaining("events.jsonl is damaged in line 4");
  }

  @Test
  void saysWhatIsNoRun() throws IOException {
    var none = temp.resolve("none");
    assertThatThrownBy(() -> Run.read(none)).hasMessageContaining("there is no folder " + none);
    assertThatThrownBy(() -> Run.read(temp))
        .hasMessageContaining("is not the folder of a run: it has no events.jsonl")
        .satisfies(it -> assertThat(((RunException) it).exitCode()).isEqualTo(ExitCodes.USAGE));
    var file = Files.createFile(temp.resolve("file"));
    assertThatThrownBy(() -> Run.read(file)).hasMessageContaining("is not a folder");
  }

  @Test
  void secretsOfConfigurationAndNotesNeverCome() throws IOException {
    var other =
        RunFolders.begun(
            temp.resolve("two"),
            "{\"data\":{\"api_key\":\"canary-1\",\"url\":\"https://me:canary-2@host/x\","
                + "\"note\":[\"canary-3-from-environment\"],\"tokenizer\":\"bert\",\"token\":7}}");
    other.event("noted", "\"text\":\"read with canary-3-from-environment\"");
    var follower =
        new RunFollower(
            other.folder(), new Secrets(Map.of("HF_TOKEN", "canary-3-from-environment")));
    follower.poll();
    var run = follower.run();
    assertThat(run.toString()).doesNotContain("canary");
    assertThat(run.configuration().toString()).contains("tokenizer=bert", "token=7", "@host/x");
  }
}
