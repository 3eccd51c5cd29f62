package dev.flotilla.report.tensorboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.flotilla.config.Catalogue;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.Resume;
import dev.flotilla.config.RunConfig;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.train.RunPaths;
import dev.flotilla.world.World;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Event files of whole runs. */
class TensorBoardRunTests {

  private static final String RECIPE =
      """
      model: {name: mlp, inputs: 64, hidden: [8]}
      data: {name: synthetic-images, channels: 1, side: 8, classes: 10, samples: 64, test_samples: 16}
      global_batch: 8
      max_steps: 8
      log_every: 1
      threads: 1
      device: cpu
      optimizer: {name: momentum, lr: 0.05}
      clip: {norm: 1}
      checkpoint: {every: 2, keep: 9}
      """;

  /** A test's own Python may be named, since the packages of a system's are its own affair. */
  private static final String PYTHON = System.getProperty("flotilla.test.python", "python3");

  @TempDir Path folder;

  private static RunConfig config(String... lines) {
    var text = RECIPE + String.join("\n", lines);
    return RunConfig.read(Recipe.parse("recipe", text), Catalogue.installed());
  }

  private static ConfiguredRun run(String... lines) {
    return new ConfiguredRun(config(lines), World.solo());
  }

  private byte[] trained(String name, String... lines) throws IOException {
    var out = folder.resolve(name);
    run(lines).run(out, _ -> {});
    return Files.readAllBytes(RunPaths.modelIn(out));
  }

  @Test
  void histogramsChangeNoBitOfARun() throws IOException {
    var plain = trained("plain");

    assertThat(trained("watched", "tensorboard: {histograms: 2}")).isEqualTo(plain);
    assertThat(ReadEvents.shown(folder.resolve("watched")))
        .extracting(ReadEvents.Point::place)
        .contains("gradients/fc1.weight@2", "weights/fc1.weight@2")
        .contains("gradients/fc2.bias@8", "weights/fc2.bias@8")
        .doesNotContain("gradients/fc2.bias@7");
    assertThat(ReadEvents.files(folder.resolve("plain"))).isEmpty();
  }

  /** Sums of squares over all tensors give norms that are known otherwise. */
  @Test
  void histogramsAreOfClippedGradientsAndOfUpdatedWeights() throws IOException {
    run("tensorboard: {histograms: 8}", "precision: float64").run(folder.resolve("run"), _ -> {});

    double gradients = 0;
    double weights = 0;
    for (var point : ReadEvents.shown(folder.resolve("run"))) {
      if (point.tag().startsWith("gradients/")) {
        gradients += ReadEvents.real(point.histogram(), 5);
      } else if (point.tag().startsWith("weights/")) {
        weights += ReadEvents.real(point.histogram(), 5);
      }
    }
    assertThat(Math.sqrt(gradients)).isCloseTo(1, org.assertj.core.data.Offset.offset(1e-6));
    assertThat(weights)
        .isCloseTo(squaresIn(folder.resolve("run")), org.assertj.core.data.Offset.offset(1e-9));
  }

  /** Reads the file's numbers behind its header, whatever their names. */
  private static double squaresIn(Path run) throws IOException {
    var bytes =
        java.nio.ByteBuffer.wrap(Files.readAllBytes(RunPaths.modelIn(run)))
            .order(java.nio.ByteOrder.LITTLE_ENDIAN);
    var numbers = bytes.position(8 + (int) bytes.getLong(0)).slice();
    var doubles = numbers.order(java.nio.ByteOrder.LITTLE_ENDIAN).asDoubleBuffer();
    double sum = 0;
    while (doubles.hasRemaining()) {
      double value = doubles.get();
      sum += value * value;
    }
    return sum;
  }

  @Test
  void aRunThatGoesOnHasTheSamePointsAsOneThatWasNeverStopped() throws IOException {
    var settings = "tensorboard: {histograms: 2}";
    run(settings).run(folder.resolve("whole"), _ -> {});
    var out = folder.resolve("stopped");
    run(settings, "").run(out, _ -> {});
    for (int update : List.of(6, 8)) {
      deleteCheckpoint(out, update);
    }
    Files.delete(RunPaths.summaryIn(out));

    run(settings).run(out, new Resume.Auto(), _ -> {});

    assertThat(ReadEvents.files(out)).hasSize(2);
    assertThat(places(out)).containsExactlyInAnyOrderElementsOf(places(folder.resolve("whole")));
  }

  private static List<String> places(Path run) throws IOException {
    return ReadEvents.shown(run).stream()
        .filter(point -> !point.tag().startsWith("config"))
        .map(ReadEvents.Point::place)
        .toList();
  }

  private static void deleteCheckpoint(Path run, int update) throws IOException {
    var checkpoint =
        RunPaths.checkpointsIn(run).resolve("update-%010d.step-%010d".formatted(update, update));
    try (var files = Files.list(checkpoint)) {
      for (var file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(checkpoint);
  }

  @Test
  void rankZeroAloneWrites() throws IOException {
    var config = config("tensorboard: {histograms: 4}");
    var out = folder.resolve("run");
    Ranks.of(2).callWorlds(world -> new ConfiguredRun(config, world).run(out, _ -> {}));

    assertThat(ReadEvents.files(out)).hasSize(1);
    assertThat(places(out)).doesNotHaveDuplicates().contains("train/loss@8", "weights/fc2.bias@8");
  }

  @Test
  void anotherFolderHoldsOneOfEachRun() throws IOException {
    trained("run-a", "tensorboard: {dir: '%s'}".formatted(folder.resolve("board")));

    assertThat(ReadEvents.files(folder.resolve("run-a"))).isEmpty();
    assertThat(places(folder.resolve("board/run-a"))).contains("train/loss@1", "eval/loss@8");
  }

  @Test
  void refusesHistogramsOfSlices() {
    var sharded = config("tensorboard: {histograms: 4}", "strategy: {sharding: {stage: 1}}");
    assertThatThrownBy(() -> new ConfiguredRun(sharded, World.solo()).plan())
        .hasMessageContaining(
            "tensorboard.histograms are written by rank 0, which with sharding holds"
                + " slices of the gradients alone")
        .hasMessageContaining("leave histograms or sharding out");
  }

  @Test
  void refusesWhatCannotBeWrittenBeforeARunBegins() throws IOException {
    var file = Files.createFile(folder.resolve("file"));
    assertThatThrownBy(() -> trained("run", "tensorboard: {dir: '%s'}".formatted(file)))
        .hasMessageContaining("recipe:11:")
        .hasMessageContaining("tensorboard.dir: cannot write to " + file.resolve("run"))
        .hasMessageContaining("leave dir out");
    assertThat(RunPaths.eventsIn(folder.resolve("run"))).doesNotExist();
    assertThatThrownBy(() -> config("tensorboard: {histograms: 0}"))
        .hasMessageContaining(
            "tensorboard.histograms: must be at least 1, or null for none, but was 0");
  }

  /** TensorBoard's own reader, where Python has it. */
  @Test
  void tensorBoardsOwnReaderShowsTheSame() throws IOException, InterruptedException {
    requireTensorBoard();
    run("tensorboard: {histograms: 4}").run(folder.resolve("run"), _ -> {});
    var script =
        """
        import sys
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        read = EventAccumulator(sys.argv[1], size_guidance={'histograms': 0}); read.Reload()
        for tag in read.Tags()['scalars']:
            for e in read.Scalars(tag): print('%s@%d' % (tag, e.step))
        for tag in read.Tags()['histograms']:
            for e in read.Histograms(tag): print('%s@%d' % (tag, e.step))
        """;
    assertThat(python("-c", script, folder.resolve("run").toString()).lines())
        .containsExactlyInAnyOrderElementsOf(places(folder.resolve("run")));
  }

  private static void requireTensorBoard() throws InterruptedException {
    try {
      python("-c", "import tensorboard.backend.event_processing.event_accumulator");
    } catch (IOException missing) {
      System.err.println("skipped: no TensorBoard in " + PYTHON);
      abort("no TensorBoard in %s; name one with -Dflotilla.test.python=".formatted(PYTHON));
    }
  }

  private static String python(String... arguments) throws IOException, InterruptedException {
    var command = new java.util.ArrayList<>(List.of(PYTHON));
    command.addAll(Arrays.asList(arguments));
    var process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!process.waitFor(30, TimeUnit.SECONDS) || process.exitValue() != 0) {
      throw new IOException("python has failed");
    }
    return output;
  }
}
