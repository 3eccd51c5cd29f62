package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.checkpoint.CheckpointException;
import dev.flotilla.checkpoint.Restorer;
import dev.flotilla.data.BatchSource;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.LossTerms;
import dev.flotilla.optim.Adam;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.bytedeco.javacpp.Pointer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checkpoints as a trainer uses them. */
class ResumptionTests {

  private static final ColouredPoints POINTS = new ColouredPoints(240, 8, 4);
  private static final int UPDATES = 24;
  private static final int CYCLES = Integer.getInteger("flotilla.test.cycles", 50);

  @TempDir Path folder;
  private final List<String> notes = Collections.synchronizedList(new ArrayList<>());

  private TrainerBuilder trainer(World world, Strategy... techniques) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(16), 4))
        .optimizer(new Adam(0.01))
        .strategy(techniques)
        .threads(1)
        .checkpoints(CheckpointSettings.in(folder).every(8))
        .events(this::listen)
        .loop(LoopSettings.defaults().endAfterUpdates(UPDATES));
  }

  private void listen(TrainingEvent event) {
    if (event instanceof TrainingEvent.Noted(var text)) {
      notes.add(text);
    }
  }

  private static BatchSource source() {
    return BatchSource.global(POINTS, 24).shuffled(7);
  }

  private Snapshot fit(World world, Strategy... techniques) {
    try (var trainer = trainer(world, techniques).build()) {
      trainer.fit(source(), 1);
      return Snapshot.of(trainer);
    }
  }

  private Snapshot goOn(World world, Strategy... techniques) {
    try (var trainer = trainer(world, techniques).build()) {
      assertThat(trainer.resume(folder)).isPresent();
      trainer.fit(source(), 1);
      return Snapshot.of(trainer);
    }
  }

  private Path checkpoint(int update) {
    return Restorer.candidates(folder).stream()
        .filter(path -> path.getFileName().toString().startsWith("update-%010d".formatted(update)))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void withoutACheckpointThereIsNothingToResume() {
    try (var trainer = trainer(World.solo()).build()) {
      assertThat(trainer.resume(folder)).isEmpty();
    }
  }

  @Test
  void theCheckpointBeforeADamagedOneIsUsedAndSaidSo() throws IOException {
    var whole = fit(World.solo());
    Files.write(checkpoint(24).resolve("model.safetensors"), new byte[100]);
    Files.write(checkpoint(16).resolve("manifest.json"), new byte[100]);
    assertThat(goOn(World.solo()).isSameAs(whole)).isTrue();
    assertThat(notes)
        .anySatisfy(
            it -> assertThat(it).contains("model.safetensors is damaged").contains("before"))
        .anySatisfy(it -> assertThat(it).contains("manifest.json is damaged"));
  }

  /** The last bytes of a file are a tensor's, so restoring has begun when they are found wrong. */
  @Test
  void theCheckpointBeforeReplacesWhatADamagedOneHasLeft() throws IOException {
    var whole = fit(World.solo());
    flipLastBit(checkpoint(24).resolve("model.safetensors"));
    assertThat(goOn(World.solo()).isSameAs(whole)).isTrue();
    assertThat(notes).anySatisfy(it -> assertThat(it).contains("model.safetensors is damaged"));
  }

  @Test
  void damagedCheckpointsAloneAreNoReasonToStartAnew() throws IOException {
    fit(World.solo());
    for (var path : Restorer.candidates(folder)) {
      flipLastBit(path.resolve("model.safetensors"));
    }
    try (var trainer = trainer(World.solo()).build()) {
      assertThatThrownBy(() -> trainer.resume(folder))
          .isInstanceOf(CheckpointException.class)
          .hasMessageContaining("are damaged, as said above; move them away to start anew");
    }
  }

  private static void flipLastBit(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length - 1] ^= 1;
    Files.write(file, bytes);
  }

  @Test
  void twoRanksPassOverACheckpointThatOnlyOneOfThemCannotRead() throws IOException {
    var whole = Ranks.of(2).callWorlds(this::fit).getFirst();
    Files.delete(checkpoint(24).resolve("rank-00001.safetensors"));
    var resumed = Ranks.of(2).callWorlds(this::goOn);
    assertThat(resumed).allMatch(whole::isSameAs);
    assertThat(notes).anySatisfy(it -> assertThat(it).contains("rank-00001.safetensors"));
  }

  @Test
  void aDamagedCheckpointThatWasNamedIsRefused() throws IOException {
    fit(World.solo());
    var named = checkpoint(16);
    Files.write(named.resolve("model.safetensors"), new byte[100]);
    try (var trainer = trainer(World.solo()).build()) {
      assertThatThrownBy(() -> trainer.resume(named))
          .isInstanceOf(CheckpointException.class)
          .hasMessageContaining("model.safetensors is damaged");
    }
  }

  @Test
  void anotherModelIsRefused() {
    fit(World.solo());
    try (var trainer =
        Trainer.on(World.solo())
            .model(new Mlp(8, List.of(12), 4))
            .optimizer(new Adam(0.01))
            .build()) {
      assertThatThrownBy(() -> trainer.resume(folder))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("was saved from a model with other parameters");
    }
  }

  /** Sums are dealt out anew, so that only the order of additions changes. */
  @ParameterizedTest
  @CsvSource({"1, 2", "2, 1", "2, 3", "3, 1"})
  void anotherNumberOfRanksGoesOnWithTheSameSamples(int before, int after) {
    var whole = fit(World.solo(), new GradientMerge(3));
    clear();
    Ranks.of(before)
        .callWorlds(
            world -> {
              try (var trainer = trainer(world, new GradientMerge(3)).build()) {
                trainer.link(new StopsAfter(10));
                assertThatThrownBy(() -> trainer.fit(source(), 1))
                    .isInstanceOf(StoppedException.class);
                return trainer.updates();
              }
            });
    var resumed = Ranks.of(after).callWorlds(world -> goOn(world, new GradientMerge(3))).getFirst();
    assertThat(resumed.relativeDistance(whole)).isLessThan(1e-4);
    assertThat(notes)
        .anySatisfy(
            it ->
                assertThat(it)
                    .contains("saved by %d ranks, restored by %d".formatted(before, after)));
  }

  /** The counts of two ranks are more than the lower of the two numbers that hold them. */
  @ParameterizedTest
  @CsvSource({"2, 1", "3, 2", "1, 2"})
  void aHalfWindowOfAnotherNumberOfRanksIsDividedByAllItsTerms(int before, int after) {
    Ranks.of(before)
        .callWorlds(
            world -> {
              try (var trainer = trainer(world).build()) {
                backward(trainer, 3_000);
                trainer.save();
                trainer.awaitSave();
                return world.rank();
              }
            });
    var counts =
        Ranks.of(after)
            .callWorlds(
                world -> {
                  try (var trainer = trainer(world).build()) {
                    assertThat(trainer.resume(folder)).isPresent();
                    backward(trainer, 100);
                    return trainer.ownLoop().update().totals().count();
                  }
                });
    assertThat(counts).containsOnly(3_000L * before + 100L * after);
  }

  private static void backward(Trainer trainer, long terms) {
    try (var _ = TensorScope.open()) {
      var weight = trainer.model().parameter("fc1.weight");
      trainer.ownLoop().backward(new LossTerms(weight.square().sum(), terms));
    }
  }

  private void clear() {
    for (var path : Restorer.candidates(folder)) {
      CheckpointFolders.delete(path);
    }
  }

  @Test
  void aBatchThatDoesNotMeetThePlaceInTheDataIsRefused() {
    try (var trainer = trainer(World.solo()).build()) {
      trainer.link(new StopsAfter(2));
      assertThatThrownBy(() -> trainer.fit(source(), 1)).isInstanceOf(StoppedException.class);
    }
    try (var trainer = trainer(World.solo()).build()) {
      assertThat(trainer.resume(folder)).isPresent();
      assertThatThrownBy(() -> trainer.fit(BatchSource.global(POINTS, 50), 1))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("after 72 samples of an epoch, which batches of 50");
    }
  }

  @Test
  void changedSettingsAreSaid() {
    try (var trainer = trainer(World.solo()).build()) {
      trainer.link(new StopsAfter(9));
      assertThatThrownBy(() -> trainer.fit(source(), 1)).isInstanceOf(StoppedException.class);
    }
    try (var trainer = trainer(World.solo()).optimizer(new Adam(0.02)).build()) {
      assertThat(trainer.resume(folder)).isPresent();
    }
    assertThat(notes)
        .contains("optimizer.lr was 0.01 when the checkpoint was saved and is 0.02 now");
  }

  @Test
  void savingAndRestoringManyTimesLeavesNothingBehind() throws IOException {
    try (var trainer = trainer(World.solo(), new GradientMerge(3)).build()) {
      trainer.fit(source(), 1);
      saveAndRestore(trainer, 5);
      long objects = Pointer.totalCount();
      long bytes = Pointer.totalBytes();
      long descriptors = descriptors();
      saveAndRestore(trainer, CYCLES);
      // Fewer, if what an earlier test left to the collector is gone meanwhile.
      assertThat(Pointer.totalCount()).isLessThanOrEqualTo(objects);
      assertThat(Pointer.totalBytes()).isLessThanOrEqualTo(bytes);
      assertThat(descriptors()).isLessThanOrEqualTo(descriptors);
    }
  }

  private static long descriptors() throws IOException {
    try (var open = Files.list(Path.of("/proc/self/fd"))) {
      return open.count();
    }
  }

  private void saveAndRestore(Trainer trainer, int times) {
    for (int i = 0; i < times; i++) {
      trainer.save();
      trainer.awaitSave();
      assertThat(trainer.resume(folder)).isPresent();
    }
  }
}
