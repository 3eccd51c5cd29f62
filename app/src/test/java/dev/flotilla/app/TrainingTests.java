package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** One process trains the default recipe; most tests look at one short run. */
class TrainingTests {

  private static final int UPDATES = 60;
  private static final Duration ENOUGH_FOR_ALL_EPOCHS = Duration.ofMinutes(10);

  @TempDir static Path folder;
  private static Flotilla flotilla;
  private static RunFiles run;
  private static Ended ended;

  @BeforeAll
  static void trainBriefly() {
    flotilla =
        Flotilla.in(folder).withJvmOption("-Xlog:library=info:file=" + folder.resolve("libraries"));
    run = new RunFiles(flotilla.work().resolve("run"));
    ended =
        flotilla.run("train", "--max-steps=" + UPDATES, "--set=threads=1", "--json", "--out=run");
    ended.expect(0);
  }

  @Test
  void printsTheSummaryAsJsonAndNothingElse() {
    assertThat(RunFiles.json(ended.out())).isEqualTo(run.summary());
    assertThat(ended.err()).isEmpty();
  }

  /** Without this, a plan that loads no such library would prove nothing. */
  @Test
  void loadsLibtorch() throws IOException {
    assertThat(Files.readString(folder.resolve("libraries"))).contains("libjnitorch");
  }

  @Test
  void summarisesTheRun() {
    var summary = run.summary();
    assertThat(summary.propertyNames())
        .contains(
            "accuracy",
            "loss",
            "updates",
            "micro_steps",
            "samples_per_second",
            "collectives",
            "scalar_collectives",
            "bytes_sent",
            "peak_rss_bytes",
            "wall_seconds",
            "weights_sha256",
            "configuration");
    assertThat(summary.get("updates").asInt()).isEqualTo(UPDATES);
    assertThat(summary.get("micro_steps").asInt()).isEqualTo(UPDATES);
    assertThat(summary.get("accuracy").asDouble()).isBetween(0.5, 1.0);
    assertThat(summary.get("bytes_sent").asLong()).isZero();
    assertThat(summary.get("peak_rss_bytes").asLong()).isGreaterThan(100_000_000);
    assertThat(run.weights()).matches("[0-9a-f]{64}");
    var configuration = summary.get("configuration");
    assertThat(configuration.get("max_steps").asInt()).isEqualTo(UPDATES);
    assertThat(configuration.get("model").get("name").asString()).isEqualTo("lenet5");
  }

  @Test
  void writesEventsInTheirOrder() {
    var events = run.events();
    var kinds = events.stream().map(event -> event.get("event").asString()).toList();
    assertThat(kinds)
        .startsWith("configured", "started", "updated")
        .endsWith("evaluated", "saved", "finished");
    assertThat(updatesIn(events)).containsExactly(10, 20, 30, 40, 50, 60);
    assertThat(events).allMatch(event -> event.get("time").asString().endsWith("Z"));
    assertThat(events.getLast().get("summary")).isEqualTo(run.summary());
  }

  private static List<Integer> updatesIn(List<JsonNode> events) {
    return events.stream()
        .filter(event -> event.get("event").asString().equals("updated"))
        .map(event -> event.get("update").asInt())
        .toList();
  }

  @Test
  void keepsTheRunPrivate() throws IOException {
    assertThat(permissions(run.folder())).isEqualTo("rwx------");
    try (Stream<Path> files = Files.list(run.folder())) {
      assertThat(files.toList())
          .extracting(file -> file.getFileName().toString(), TrainingTests::permissions)
          .containsExactlyInAnyOrder(
              privateFile(".lock"),
              privateFile(".run"),
              privateFile("events.jsonl"),
              privateFile("measured.jsonl"),
              privateFile("report.html"),
              privateFile("summary.json"),
              privateFile("model.safetensors"),
              tuple("checkpoints", "rwx------"));
    }
    assertThat(flotilla.files()).filteredOn(file -> file.startsWith("tmp/")).isEmpty();
  }

  private static Tuple privateFile(String name) {
    return tuple(name, "rw-------");
  }

  private static String permissions(Path file) {
    try {
      return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aSavedModelScoresAsItDidInTraining() {
    var scores = RunFiles.json(flotilla.run("eval", "--checkpoint=run", "--json").expect(0).out());
    for (var key : List.of("accuracy", "accuracy_top5")) {
      assertThat(scores.get(key).asDouble()).isEqualTo(run.summary().get(key).asDouble());
    }
    assertThat(scores.get("loss").asDouble())
        .isCloseTo(run.summary().get("loss").asDouble(), within(1e-6));
    assertThat(scores.get("samples").asInt()).isEqualTo(2000);
  }

  @Test
  void aFolderWithoutARunCannotBeEvaluated() throws IOException {
    Files.createDirectories(flotilla.work().resolve("empty"));
    var failed =
        flotilla.run("eval", "--checkpoint=empty").expect(ExitCodes.CHECKPOINT).explainsItself();
    assertThat(failed.err()).contains("empty does not hold a run");
  }

  @Test
  void aDamagedModelIsRefused() throws IOException {
    var damaged = Files.createDirectories(flotilla.work().resolve("damaged"));
    Files.copy(run.folder().resolve("summary.json"), damaged.resolve("summary.json"));
    var model = Files.readAllBytes(run.model());
    Files.write(damaged.resolve("model.safetensors"), Arrays.copyOf(model, 1000));
    var failed =
        flotilla.run("eval", "--checkpoint=damaged").expect(ExitCodes.CHECKPOINT).explainsItself();
    assertThat(failed.err()).contains("model.safetensors");
    assertThat(failed.out()).isEmpty();
  }

  @Test
  void theDefaultRecipeReaches97Percent() {
    var whole = flotilla.run(ENOUGH_FOR_ALL_EPOCHS, "train", "--set=threads=1").expect(0);
    var name = whole.out().lines().toList().getLast().replace("run folder: ", "");
    var summary = new RunFiles(flotilla.work().resolve(name)).summary();
    assertThat(name).matches("runs/[0-9]{8}-[0-9]{6}_lenet5");
    assertThat(summary.get("accuracy").asDouble()).isBetween(0.97, 1.0);
    assertThat(summary.get("updates").asInt()).isEqualTo(8 * 157);
    assertThat(whole.out()).contains("Strategy Overview", "samples/s", "done: accuracy ");
    assertThat(whole.out()).as("plain lines, as this is no terminal").doesNotContain("\r");
  }
}
