package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.board.run.Moment;
import dev.flotilla.board.run.Run;
import dev.flotilla.config.Catalogue;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.Resume;
import dev.flotilla.config.RunConfig;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.world.World;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a run measures of itself, and the report that it leaves. */
class MeasuredRunTests {

  @TempDir Path folder;

  private static RunConfig config(int updates) {
    var recipe =
        """
        model: {name: mlp, inputs: 64, hidden: [8]}
        data: {name: synthetic-images, channels: 1, side: 8, classes: 10, samples: 64, test_samples: 16}
        global_batch: 8
        log_every: 1
        threads: 1
        device: cpu
        checkpoint: {every: 2}
        optimizer: {name: momentum, lr: 0.05}
        """;
    return RunConfig.read(
        Recipe.parse("recipe", recipe + "max_steps: " + updates), Catalogue.installed());
  }

  private static void train(Path out, int updates, Resume resume) {
    new ConfiguredRun(config(updates), World.solo()).run(out, resume, _ -> {});
  }

  @Test
  void aRunLeavesItsReportAndARestartRenewsIt() throws IOException {
    var out = folder.resolve("run");
    train(out, 4, new Resume.No());
    var first = Files.readString(out.resolve("report.html"));
    assertThat(first).contains("\"status\":\"finished\"").doesNotContain("\"kind\":\"RESTART\"");

    train(out, 6, new Resume.Auto());
    assertThat(Files.readString(out.resolve("report.html")))
        .contains("\"status\":\"finished\"", "\"kind\":\"RESTART\"")
        .contains("\"x\":[1,2,3,4,5,6]");
    var run = Run.read(out);
    assertThat(run.timeline())
        .filteredOn(it -> it.kind() == Moment.Kind.RESTART)
        .extracting(Moment::update)
        .containsExactly(4L);
    assertThat(run.series("memory", "resident").orElseThrow().size()).isEqualTo(6);
    assertThat(run.pipeline()).containsEntry("EXCHANGE", "dense mean");
    assertThat(run.stateBytes()).isEqualTo(3 * 4 * (64 * 8 + 16 + 8 * 10 + 16));
  }

  /** Otherwise a run that was stopped would not have the events of one that was not. */
  @Test
  void whatDependsOnTheMachineIsNoEvent() throws IOException {
    var out = folder.resolve("run");
    train(out, 3, new Resume.No());
    assertThat(Files.readString(out.resolve("events.jsonl")))
        .doesNotContain("\"event\":\"timed\"", "\"event\":\"planned\"");
    assertThat(Files.readAllLines(out.resolve("measured.jsonl")))
        .hasSize(4)
        .first()
        .asString()
        .startsWith("{\"event\":\"planned\"");
  }

  @Test
  void aReportThatCannotBeWrittenFailsNoRun() throws IOException {
    var out = folder.resolve("run");
    Files.createDirectories(out.resolve("report.html").resolve("in-the-way"));
    train(out, 2, new Resume.No());
    assertThat(RunPaths.isFinished(out)).isTrue();
  }

  @Test
  void partsOfEveryRanksTimeAreThoseOfItsSteps() {
    var out = folder.resolve("run");
    Ranks.of(2)
        .callWorlds(
            world -> new ConfiguredRun(config(4), world).run(out, new Resume.No(), _ -> {}).size());
    var times = Run.read(out).stepTimes();
    assertThat(times).hasSize(2);
    for (var time : times) {
      assertThat(List.of(time.forward(), time.backward(), time.exchange(), time.update()))
          .allMatch(seconds -> seconds > 0);
      assertThat(time.hidden()).isLessThanOrEqualTo(time.backward());
    }
  }
}
