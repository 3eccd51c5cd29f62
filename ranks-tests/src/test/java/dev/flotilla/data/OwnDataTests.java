package dev.flotilla.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.optim.Adam;
import dev.flotilla.optim.Cosine;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.CheckpointSettings;
import dev.flotilla.train.LoopSettings;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A program's own objects, trained on with every order of samples, and resumed inside an epoch. */
final class OwnDataTests {

  /** An epoch has six batches, so that updates 8 and 16 lie inside one. */
  private static final int UPDATES = 20;

  private record Point(float x, float y, float z, int colour) {

    float[] place() {
      return new float[] {x, y, z};
    }
  }

  private static final List<Point> POINTS =
      IntStream.range(0, 67)
          .mapToObj(i -> new Point((float) Math.sin(i), (float) Math.cos(3 * i), i % 7, i % 3))
          .toList();

  private static final Dataset DATA = Dataset.of(POINTS, Point::place, Point::colour, 3).cached();

  private static final BatchSource BATCHES = BatchSource.global(DATA, 12);

  private static final Map<String, EpochSource> ORDERS =
      Map.of(
          "weighted", BATCHES.weighted(IntStream.range(0, 67).asDoubleStream().toArray(), 3),
          "stratified", BATCHES.stratified(3),
          "byLength", BATCHES.byLength(3),
          "dropLast", BATCHES.shuffled(3).dropLast(),
          "stream", stream().shuffled(3, 30));

  private static StreamSource<Point> stream() {
    var encoding = Encoding.<Point>empty().input(Point::place).label(Point::colour, 3);
    return StreamSource.of(_ -> POINTS.stream(), encoding, 12);
  }

  @TempDir Path folder;

  private TrainerBuilder trainer(World world, int updates) {
    return Trainer.on(world)
        .model(new Mlp(3, List.of(8), 3))
        .optimizer(new Adam(0.01))
        .threads(1)
        .checkpoints(CheckpointSettings.in(folder).every(8))
        .loop(LoopSettings.defaults().endAfterUpdates(updates));
  }

  private Snapshot fit(World world, String order, int updates) {
    try (var trainer = trainer(world, updates).build()) {
      trainer.resume(folder);
      trainer.fit(Objects.requireNonNull(ORDERS.get(order)), 1);
      return Snapshot.of(trainer);
    }
  }

  static Stream<Arguments> ordersAndRanks() {
    return ORDERS.keySet().stream()
        .sorted()
        .flatMap(order -> IntStream.of(1, 3).mapToObj(n -> Arguments.of(order, n)));
  }

  @ParameterizedTest
  @MethodSource("ordersAndRanks")
  void aRunThatWasStoppedInsideAnEpochIsTheSame(String order, int ranks, @TempDir Path other) {
    var stopped = Ranks.of(ranks).callWorlds(world -> fit(world, order, 10));
    var resumed = Ranks.of(ranks).callWorlds(world -> fit(world, order, UPDATES));
    assertThat(stopped.getFirst().isSameAs(resumed.getFirst())).isFalse();
    folder = other;
    var whole = Ranks.of(ranks).callWorlds(world -> fit(world, order, UPDATES));
    assertThat(resumed).allMatch(whole.getFirst()::isSameAs);
  }

  /** Each rank takes another part of the same batches, so that only the order of sums changes. */
  @ParameterizedTest
  @CsvSource({"weighted, 1, 3", "stratified, 3, 2", "stream, 2, 3", "stream, 3, 1"})
  void anotherNumberOfRanksGoesOnWithTheSameSamples(
      String order, int before, int after, @TempDir Path other) {
    Ranks.of(before).callWorlds(world -> fit(world, order, 10));
    var resumed = Ranks.of(after).callWorlds(world -> fit(world, order, UPDATES)).getFirst();
    folder = other;
    assertThat(resumed.relativeDistance(fit(World.solo(), order, UPDATES))).isLessThan(1e-4);
  }

  @Test
  void anotherOrderInsideAnEpochIsRefused() {
    fit(World.solo(), "stratified", 10);
    assertThatThrownBy(() -> fit(World.solo(), "byLength", UPDATES))
        .isInstanceOf(ConfigException.class)
        .hasMessage(
            "data: the checkpoint was made inside an epoch of 67 samples stratified with seed 3,"
                + " but now an epoch is 67 samples by length with seed 3: go on with the same data"
                + " and order, or from a checkpoint at the end of an epoch");
  }

  /** What lies together by length depends on how many do. */
  @Test
  void anotherBatchByLengthInsideAnEpochIsRefused() {
    fit(World.solo(), "byLength", 10);
    try (var trainer = trainer(World.solo(), UPDATES).build()) {
      trainer.resume(folder);
      var other = BatchSource.global(DATA, 6).byLength(3);
      assertThatThrownBy(() -> trainer.fit(other, 1))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("batches of 12 over all ranks, but now they have 6");
    }
  }

  @Test
  void anotherOrderAfterAnEpochIsTaken() {
    fit(World.solo(), "stratified", 12);
    assertThat(fit(World.solo(), "byLength", UPDATES)).isNotNull();
  }

  /** Windows of five micro-steps, so that the end of the stream ends one in the middle. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aStreamTrainsAsTheSameDataDoes(int ranks) {
    var streamed = Ranks.of(ranks).callWorlds(world -> epochs(world, stream()));
    var listed = Ranks.of(ranks).callWorlds(world -> epochs(world, BATCHES));
    assertThat(streamed).allMatch(listed.getFirst()::isSameAs);
  }

  private static Snapshot epochs(World world, EpochSource source) {
    try (var trainer =
        Trainer.on(world)
            .model(new Mlp(3, List.of(8), 3))
            .optimizer(new Adam(0.01))
            .strategy(new GradientMerge(5))
            .threads(1)
            .build()) {
      assertThat(trainer.fit(source, 3).updates()).isEqualTo(6);
      return Snapshot.of(trainer);
    }
  }

  @Test
  void aScheduleThatNeedsTheLengthOfAStreamIsRefused() {
    try (var trainer =
        Trainer.on(World.solo())
            .model(new Mlp(3, List.of(8), 3))
            .optimizer(new Adam(0.01))
            .schedule(new Cosine())
            .build()) {
      assertThatThrownBy(() -> trainer.fit(stream(), 1))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("needs the number of updates, which a stream does not tell");
    }
  }
}
