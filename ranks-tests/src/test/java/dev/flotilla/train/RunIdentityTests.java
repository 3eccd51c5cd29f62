package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.checkpoint.CheckpointException;
import dev.flotilla.checkpoint.Restorer;
import dev.flotilla.checkpoint.SavedCheckpoint;
import dev.flotilla.config.Catalogue;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.Resume;
import dev.flotilla.config.RunConfig;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.world.World;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A run keeps to itself: its folder, its checkpoints, its events. */
class RunIdentityTests {

  @TempDir Path folder;
  private Path out = Path.of("");
  private final List<String> notes = Collections.synchronizedList(new ArrayList<>());

  @BeforeEach
  void place() {
    out = folder.resolve("run");
  }

  private static RunConfig config(String... lines) {
    var text = String.join("\n", lines);
    var recipe =
        """
        model: {name: mlp, inputs: 64, hidden: [8]}
        data: {name: synthetic-images, channels: 1, side: 8, classes: 10, samples: 64, test_samples: 16}
        global_batch: 8
        log_every: 1
        threads: 1
        device: cpu
        """
            + text
            + (text.contains("optimizer:") ? "" : "\noptimizer: {name: momentum, lr: 0.05}");
    return RunConfig.read(Recipe.parse("recipe", recipe), Catalogue.installed());
  }

  private static RunConfig steps(int updates) {
    return config("max_steps: " + updates, "checkpoint: {every: 2, keep: 9}");
  }

  private Map<String, Object> train(RunConfig config, Path where, Resume resume) {
    return new ConfiguredRun(config, World.solo()).run(where, resume, this::listen);
  }

  private Map<String, Object> train(int updates, Resume resume) {
    return train(steps(updates), out, resume);
  }

  private void listen(TrainingEvent event) {
    switch (event) {
      case TrainingEvent.Noted(var text) -> notes.add(text);
      case TrainingEvent.Resumed(var from, _) -> notes.add("resumed from " + from);
      default -> {}
    }
  }

  private static Resume anew() {
    return new Resume.No();
  }

  private static Resume auto() {
    return new Resume.Auto();
  }

  private static Path checkpoint(Path checkpoints, int update) {
    return checkpoints.resolve("update-%010d.step-%010d".formatted(update, update));
  }

  private Path checkpoint(int update) {
    return checkpoint(RunPaths.checkpointsIn(out), update);
  }

  private static List<JsonNode> events(Path run) {
    try {
      return Files.readString(RunPaths.eventsIn(run))
          .lines()
          .map(JsonMapper.shared()::readTree)
          .toList();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  /** Returns the updates that the events tell of, in their order. */
  private static List<Integer> updates(Path run) {
    return events(run).stream()
        .filter(event -> event.get("event").asString().equals("updated"))
        .map(event -> event.get("update").asInt())
        .toList();
  }

  private static List<Integer> until(int last) {
    return java.util.stream.IntStream.rangeClosed(1, last).boxed().toList();
  }

  private static Object weights(Map<String, Object> summary) {
    return Objects.requireNonNull(summary.get("weights_sha256"));
  }

  // Identity

  @Test
  void checkpointsNameTheRunOfTheirFolder() {
    train(4, anew());
    var run = RunFolder.runIn(out);
    assertThat(run).isPresent();
    assertThat(SavedCheckpoint.open(checkpoint(2)).run()).isEqualTo(run);
    train(6, auto());
    assertThat(SavedCheckpoint.open(checkpoint(6)).run()).isEqualTo(run);
    assertThat(RunFolder.runIn(out)).isEqualTo(run);
  }

  /** Its own saves had lower numbers, were removed at once, and the other's were gone on from. */
  @Test
  void aNewRunIsRefusedWhereAnotherSavesItsCheckpoints() {
    var shared = folder.resolve("shared");
    var line = "checkpoint: {every: 2, dir: '%s'}".formatted(shared);
    train(config("max_steps: 6", line), out, anew());
    var other = folder.resolve("other");
    for (var resume : List.of(anew(), auto())) {
      assertThatThrownBy(() -> train(config("max_steps: 4", line), other, resume))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("shared holds checkpoints of another run")
          .hasMessageContaining("--resume");
    }
    assertThat(other).doesNotExist();
    assertThat(Restorer.candidates(shared)).hasSize(3);

    train(config("max_steps: 8", line), other, new Resume.From(shared));
    assertThatThrownBy(() -> train(config("max_steps: 9", line), out, auto()))
        .as("the folder is the other run's now")
        .isInstanceOf(ConfigException.class);
  }

  @Test
  void aTrainerIsRefusedBeforeItsFirstStepWhereAnotherHasSaved() {
    train(4, anew());
    var shared = RunPaths.checkpointsIn(out);
    var run = new ConfiguredRun(steps(2), World.solo());
    try (var trainer = run.trainer(_ -> {}).checkpoints(CheckpointSettings.in(shared)).build()) {
      assertThatThrownBy(() -> trainer.fit(run.source(), 1)).isInstanceOf(ConfigException.class);
      assertThat(trainer.microSteps()).isZero();
    }
  }

  @Test
  void aCheckpointWithoutIdentityIsGoneOnFrom() throws IOException {
    train(4, anew());
    for (var path : Restorer.candidates(RunPaths.checkpointsIn(out))) {
      forgetRun(path);
    }
    Files.delete(out.resolve(".run"));
    train(6, auto());
    assertThat(notes).contains("resumed from " + checkpoint(4));
    assertThat(RunFolder.runIn(out)).isEqualTo(SavedCheckpoint.open(checkpoint(6)).run());
  }

  private static void forgetRun(Path checkpoint) throws IOException {
    var manifest = checkpoint.resolve("manifest.json");
    Files.writeString(
        manifest, Files.readString(manifest).replaceAll("(?m)^ *\"run\" *: *\".*\",\\R", ""));
    var digest = checkpoint.resolve("manifest.json.sha256");
    Files.writeString(digest, sha256(Files.readAllBytes(manifest)) + "  manifest.json\n");
    assertThat(SavedCheckpoint.open(checkpoint).run()).isEmpty();
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  // Lock

  @Test
  void aFolderInUseIsRefused() {
    try (var _ = RunFolder.create(out)) {
      assertThatThrownBy(() -> train(2, anew()))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("is in use by process " + ProcessHandle.current().pid());
    }
    train(2, anew());
  }

  @Test
  void twoTrainersDoNotSaveIntoOneFolder() {
    var run = new ConfiguredRun(steps(2), World.solo());
    var settings = CheckpointSettings.in(folder.resolve("shared"));
    try (var _ = run.trainer(_ -> {}).checkpoints(settings).build()) {
      assertThatThrownBy(() -> run.trainer(_ -> {}).checkpoints(settings).build())
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("shared is in use by");
    }
  }

  // Events and branches

  @Test
  void aBranchInPlacePutsAsideWhatCameBehind() {
    var whole = train(8, anew());
    train(10, new Resume.From(checkpoint(4)));
    assertThat(updates(out)).isEqualTo(until(10));
    var aside = RunPaths.checkpointsIn(out).resolve("aside-1");
    assertThat(checkpoint(aside, 8)).isDirectory();
    assertThat(updates(aside)).isEqualTo(until(8));
    assertThat(notes).anyMatch(note -> note.contains("after update 4") && note.contains("aside-1"));

    train(7, new Resume.From(checkpoint(aside, 6)));
    assertThat(updates(out)).isEqualTo(until(7));
    assertThat(Restorer.candidates(RunPaths.checkpointsIn(out))).containsExactly(checkpoint(7));
    assertThat(weights(train(8, auto()))).isEqualTo(weights(whole));
    assertThat(updates(out)).isEqualTo(until(8));
  }

  @Test
  void aBranchElsewhereBeginsWithTheEventsBeforeIt() {
    train(6, anew());
    var branch = folder.resolve("branch");
    train(steps(8), branch, new Resume.From(checkpoint(4)));
    assertThat(updates(branch)).isEqualTo(until(8));
    assertThat(updates(out)).isEqualTo(until(6));
    assertThat(RunFolder.runIn(branch)).isNotEqualTo(RunFolder.runIn(out));
  }

  @Test
  void eventsStayWhenTheNumberOfRanksChanges() {
    train(4, anew());
    Ranks.of(2)
        .callWorlds(world -> new ConfiguredRun(steps(6), world).run(out, auto(), this::listen));
    assertThat(updates(out)).isEqualTo(until(6));
    train(8, auto());
    assertThat(updates(out)).isEqualTo(until(8));
  }

  @Test
  void eventsAreToldOnceWhenADamagedCheckpointIsPassedOver() throws IOException {
    train(6, anew());
    Files.write(checkpoint(6).resolve("model.safetensors"), new byte[100]);
    train(8, auto());
    assertThat(notes).contains("resumed from " + checkpoint(4));
    assertThat(updates(out)).isEqualTo(until(8));
  }

  @Test
  void aTornLineIsTakenBack() throws IOException {
    train(4, anew());
    var events = RunPaths.eventsIn(out);
    var text = Files.readString(events);
    Files.writeString(events, text.substring(0, text.indexOf("\"update\":3") + 5));
    train(6, auto());
    assertThat(updates(out)).containsExactly(1, 2, 5, 6);
  }

  // Restarts, retries, more

  @Test
  void aRestartBeforeTheFirstSaveStartsFromTheNamedCheckpoint() {
    var whole = train(6, anew());
    var branch = folder.resolve("branch");
    var restart = new Resume.From(checkpoint(4), RunFolder.newName(), true);
    var first = train(steps(6), branch, restart);
    assertThat(weights(first)).isEqualTo(weights(whole));
    assertThat(notes).contains("resumed from " + checkpoint(4));

    CheckpointFolders.delete(checkpoint(RunPaths.checkpointsIn(branch), 6));
    notes.clear();
    assertThat(weights(train(steps(6), branch, restart))).isEqualTo(weights(whole));
    assertThat(notes).contains("resumed from " + checkpoint(4));

    notes.clear();
    train(steps(8), branch, restart);
    assertThat(notes).contains("resumed from " + checkpoint(RunPaths.checkpointsIn(branch), 6));
  }

  @Test
  void aRestartInPlaceBranchesAlsoIfItFailedBeforeItCould() {
    train(8, anew());
    var restart = new Resume.From(checkpoint(4), RunFolder.newName(), true);
    train(6, restart);
    assertThat(notes).contains("resumed from " + checkpoint(4));
    notes.clear();
    train(8, restart);
    assertThat(notes).contains("resumed from " + checkpoint(6));
  }

  @Test
  void aRunThatCouldNotBeBuiltMayBeTriedAgain() throws IOException {
    var weights = folder.resolve("weights.safetensors");
    Files.write(weights, new byte[] {2, 0, 0, 0, 0, 0, 0, 0, '{', '}'});
    var wrong = config("max_steps: 2", "init_from: {path: '%s'}".formatted(weights));
    assertThatThrownBy(() -> train(wrong, out, anew())).isInstanceOf(RuntimeException.class);
    train(2, anew());
    assertThat(updates(out)).isEqualTo(until(2));
    assertThatThrownBy(() -> train(2, anew()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("--resume auto");
  }

  @Test
  void aFinishedRunThatIsAskedForMoreGoesOnWithTheNextBatch() {
    var whole = train(steps(12), folder.resolve("whole"), anew());
    train(3, anew());
    var more = train(12, auto());
    assertThat(more).containsEntry("updates", 12L);
    assertThat(weights(more)).isEqualTo(weights(whole));
    assertThat(updates(out)).isEqualTo(until(12));
  }

  @Test
  void aFinishedRunThatIsAskedForLessSaysSo() {
    train(6, anew());
    train(4, auto());
    assertThat(notes).anyMatch(note -> note.startsWith("nothing is left to train"));
  }

  // Other settings

  private static final String SAVED = " when the checkpoint was saved and is ";

  private List<String> changes() {
    return notes.stream().filter(note -> note.contains(SAVED)).toList();
  }

  @Test
  void eachChangedKeyIsSaidOnceByItsRecipesName() {
    train(4, anew());
    var changed =
        config(
            "max_steps: 6",
            "checkpoint: {every: 2, keep: 9}",
            "schedule: {name: constant, warmup_steps: 1}",
            "optimizer: {name: momentum, lr: 0.05, weight_decay: 0.1}",
            "clip: {norm: 5.0}",
            "strategy: {gradient_merge: {k_steps: 2}}");
    train(changed, out, auto());
    assertThat(changes())
        .containsExactly(
            "clip.norm was not set" + SAVED + "5.0 now",
            "max_steps was 4" + SAVED + "6 now",
            "optimizer.weight_decay was 0.0" + SAVED + "0.1 now",
            "schedule.warmup_steps was 0" + SAVED + "1 now",
            "strategy.gradient_merge was not set" + SAVED + "set now");
    notes.clear();
    train(8, auto());
    assertThat(changes())
        .contains(
            "clip.norm was 5.0" + SAVED + "not set now",
            "strategy.gradient_merge was set" + SAVED + "not set now")
        .hasSize(5);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "optimizer: {name: adam, lr: 0.05} | optimizer.name was momentum | adam now",
        "optimizer: {name: sgd, lr: 0.05} | optimizer.name was momentum | sgd now",
        "freeze: ['*bias'] | freeze was [] | *bias",
        "precision: float64 | precision was float32 | float64 now",
        "strategy: {amp: {dtype: fp16}} | strategy.amp was not set | set now",
      })
  void aChangeThatDoesNotFitIsRefusedWithWhatWasAndWhatIs(String line, String was, String is) {
    train(4, anew());
    var changed = config("max_steps: 6", "checkpoint: {every: 2, keep: 9}", line);
    assertThatThrownBy(() -> train(changed, out, auto()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(was)
        .hasMessageContaining(is)
        .hasMessageContaining("A run goes on with the model")
        .message()
        .doesNotContain("holds no tensor", "no use for", "does not say");
    train(6, auto());
    assertThat(updates(out)).isEqualTo(until(6));
  }

  @Test
  void aPathWithoutCheckpointsIsRefused() {
    assertThatThrownBy(() -> train(2, new Resume.From(folder.resolve("nowhere"))))
        .isInstanceOf(CheckpointException.class);
    train(2, anew());
  }
}
