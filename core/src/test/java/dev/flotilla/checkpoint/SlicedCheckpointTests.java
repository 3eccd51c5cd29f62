package dev.flotilla.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.RunState;
import dev.flotilla.state.State;
import dev.flotilla.state.Stateful;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Function;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Slices of a long tensor come back bit for bit, however ranks cut it then and now. */
class SlicedCheckpointTests {

  private static final int LENGTH = 1000;
  private static final Position POSITION = new Position(1, 1);

  /** Where the ranks' slices begin; the last number is the end. */
  private static final List<List<Integer>> CUTS =
      List.of(
          List.of(0, LENGTH),
          List.of(0, 500, LENGTH),
          List.of(0, 333, 334, LENGTH),
          List.of(0, 0, 777, LENGTH),
          List.of(0, 640, 640, LENGTH, LENGTH));

  @TempDir Path folder;
  private final TensorScope scope = TensorScope.open();
  private int saves;

  @AfterEach
  void close() {
    scope.close();
  }

  private interface Kind {
    State of(RunState state);
  }

  /** A rank that remembers slices of one long tensor. */
  private record Slices(Kind kind, String name, List<Long> offsets, List<Tensor> tensors)
      implements Stateful {

    @Override
    public void remember(RunState state) {
      var part = kind.of(state).part("optimizer");
      part.number("step", 7);
      for (int i = 0; i < offsets.size(); i++) {
        part.slice(name, offsets.get(i), tensors.get(i));
      }
    }
  }

  /** Returns the slices of a rank; the first element is cut off on its own, as a group would be. */
  private static Slices slices(Kind kind, Tensor whole, List<Integer> cut, int rank) {
    List<Long> offsets = new ArrayList<>();
    List<Tensor> tensors = new ArrayList<>();
    int end = cut.get(rank + 1);
    int middle = Math.min(cut.get(rank) + 1, end);
    for (var range : List.of(List.of(cut.get(rank), middle), List.of(middle, end))) {
      offsets.add((long) range.getFirst());
      tensors.add(
          whole.narrow(0, range.getFirst(), range.getLast() - range.getFirst()).contiguous());
    }
    return new Slices(kind, "velocity/0", offsets, tensors);
  }

  private static Tensor random(int seed) {
    return Tensors.random(ScalarType.Float, new Random(seed), LENGTH);
  }

  private static Tensor unknown(long length) {
    return Tensors.random(ScalarType.Float, new Random(99), length);
  }

  /** Saves as several ranks, and returns the checkpoint. */
  private SavedCheckpoint save(List<? extends Stateful> ranks) {
    var place = folder.resolve("save-" + saves++);
    for (int rank = ranks.size() - 1; rank >= 0; rank--) {
      try (var checkpointer =
          new Checkpointer(place, rank, ranks.size(), 1, "writer", SaveFailures.none())) {
        if (rank == ranks.size() - 1) {
          begin(place, ranks.size());
        }
        checkpointer.save(POSITION, SavedFolder.RUN, Map.of(), List.of(ranks.get(rank)));
        assertThat(checkpointer.await()).isEmpty();
      }
    }
    return SavedCheckpoint.open(place.resolve(POSITION.folderName()));
  }

  private static void begin(Path place, int ranks) {
    try (var leader = new Checkpointer(place, 0, ranks, 1, "writer", SaveFailures.none())) {
      leader.takeFolder();
      leader.begin(POSITION);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void restore(SavedCheckpoint checkpoint, int rank, int size, Stateful part) {
    assertThat(damage(checkpoint, rank, size, part)).isEmpty();
  }

  private static Optional<CheckpointException> damage(
      SavedCheckpoint checkpoint, int rank, int size, Stateful part) {
    return Restorer.restore(checkpoint, rank, size, List.of(part));
  }

  private SavedCheckpoint saveCut(Kind kind, Tensor whole, List<Integer> cut) {
    List<Stateful> ranks = new ArrayList<>();
    for (int rank = 0; rank < cut.size() - 1; rank++) {
      ranks.add(slices(kind, whole, cut, rank));
    }
    return save(ranks);
  }

  /** A run without sharding: every rank holds everything. */
  private SavedCheckpoint savePlain(Tensor whole, int ranks) {
    return save(Collections.nCopies(ranks, slices(RunState::shared, whole, List.of(0, LENGTH), 0)));
  }

  private static void assertRestored(
      SavedCheckpoint checkpoint, Kind kind, List<Integer> cut, Tensor expected) {
    for (int rank = 0; rank < cut.size() - 1; rank++) {
      var restored = slices(kind, unknown(LENGTH), cut, rank);
      restore(checkpoint, rank, cut.size() - 1, restored);
      var wanted = slices(kind, expected, cut, rank);
      for (int i = 0; i < wanted.tensors().size(); i++) {
        assertThat(Tensors.bytes(restored.tensors().get(i)))
            .as("cut %s, rank %d, slice %d", cut, rank, i)
            .isEqualTo(Tensors.bytes(wanted.tensors().get(i)));
      }
    }
  }

  private static void assertRestoredByPlainRun(
      SavedCheckpoint checkpoint, int ranks, Tensor expected) {
    for (int rank = 0; rank < ranks; rank++) {
      var restored = slices(RunState::shared, unknown(LENGTH), List.of(0, LENGTH), 0);
      restore(checkpoint, rank, ranks, restored);
      var wanted = slices(RunState::shared, expected, List.of(0, LENGTH), 0);
      for (int i = 0; i < 2; i++) {
        assertThat(Tensors.bytes(restored.tensors().get(i)))
            .isEqualTo(Tensors.bytes(wanted.tensors().get(i)));
      }
    }
  }

  // What is equal on all ranks

  @Test
  void everyCutIsTakenUpByEveryOther() {
    var whole = random(1);
    for (var then : CUTS) {
      var checkpoint = saveCut(RunState::sliced, whole, then);
      for (var now : CUTS) {
        assertRestored(checkpoint, RunState::sliced, now, whole);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aPlainRunIsTakenUpBySlices(int ranks) {
    var whole = random(2);
    var checkpoint = savePlain(whole, ranks);
    for (var now : CUTS) {
      assertRestored(checkpoint, RunState::sliced, now, whole);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void slicesAreTakenUpByAPlainRun(int ranks) {
    var whole = random(3);
    for (var then : CUTS) {
      assertRestoredByPlainRun(saveCut(RunState::sliced, whole, then), ranks, whole);
    }
  }

  @Test
  void slicesAreWrittenByTheRankThatHoldsThemAndTheRestOnce() {
    var checkpoint = saveCut(RunState::sliced, random(4), CUTS.get(2));
    assertThat(names(checkpoint, SavedCheckpoint.SHARED)).isEmpty();
    assertThat(names(checkpoint, SavedCheckpoint.rankFile(0)))
        .containsExactlyInAnyOrder(
            "slices/optimizer/velocity/0@0", "slices/optimizer/velocity/0@1");
    assertThat(names(checkpoint, SavedCheckpoint.rankFile(1)))
        .containsExactly("slices/optimizer/velocity/0@333");
  }

  private static List<String> names(SavedCheckpoint checkpoint, String file) {
    try (var opened = SafetensorsFile.open(checkpoint.folder().resolve(file))) {
      return opened.tensors().stream().map(TensorInfo::name).toList();
    }
  }

  @Test
  void elementsThatNobodySavedAreNamed() {
    var whole = random(5);
    var checkpoint =
        save(
            List.of(
                slices(RunState::sliced, whole, List.of(0, 400), 0),
                slices(RunState::sliced, whole, List.of(450, LENGTH), 0)));
    var all = slices(RunState::shared, unknown(LENGTH), List.of(0, LENGTH), 0);
    assertThatThrownBy(() -> restore(checkpoint, 0, 1, all))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining(checkpoint.folder().toString())
        .hasMessageContaining("holds no elements [400, 450) of 'optimizer/velocity/0'");
    restore(checkpoint, 0, 1, slices(RunState::sliced, unknown(LENGTH), List.of(0, 400), 0));
  }

  @Test
  void aLongerTensorThanWasSavedIsRefused() {
    var checkpoint = savePlain(random(5), 1);
    var longer = slices(RunState::shared, unknown(LENGTH + 16), List.of(0, LENGTH + 16), 0);
    assertThatThrownBy(() -> restore(checkpoint, 0, 1, longer))
        .hasMessageContaining("holds no elements [1000, 1016) of 'optimizer/velocity/0'");
  }

  @Test
  void elementsThatTwoRanksSavedAreNamed() {
    var whole = random(6);
    var checkpoint =
        save(
            List.of(
                slices(RunState::sliced, whole, List.of(0, 600), 0),
                slices(RunState::sliced, whole, List.of(590, LENGTH), 0)));
    var all = slices(RunState::shared, unknown(LENGTH), List.of(0, LENGTH), 0);
    assertThatThrownBy(() -> restore(checkpoint, 0, 1, all))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("elements [590, 591) of 'optimizer/velocity/0' are both in")
        .hasMessageContaining(SavedCheckpoint.rankFile(0))
        .hasMessageContaining(SavedCheckpoint.rankFile(1));
  }

  @Test
  void anotherTypeIsRefused() {
    var checkpoint = saveCut(RunState::sliced, random(7), CUTS.get(1));
    var doubles = Tensors.random(ScalarType.Double, new Random(1), LENGTH);
    var other = slices(RunState::shared, doubles, List.of(0, LENGTH), 0);
    assertThatThrownBy(() -> restore(checkpoint, 0, 1, other))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("is F32 in")
        .hasMessageContaining("but F64 in the model");
  }

  @Test
  void whatNobodyAsksForIsStillFound() {
    var whole = random(8);
    var checkpoint = saveCut(RunState::sliced, whole, CUTS.get(1));
    for (int size : List.of(1, 2)) {
      Stateful other = state -> state.sliced().part("optimizer").number("step", 7);
      assertThatThrownBy(() -> restore(checkpoint, 0, size, other))
          .isInstanceOf(CheckpointException.class)
          .hasMessageContaining("holds what this run has no use for: [slices/optimizer/velocity/0");
    }
  }

  @Test
  void oneTensorCannotBeRememberedTwice() {
    var whole = random(8);
    var one = slices(RunState::sliced, whole, List.of(0, LENGTH), 0);
    try (var checkpointer = new Checkpointer(folder, 0, 1, 1, "writer", SaveFailures.none())) {
      Stateful twice =
          state -> {
            state.sliced().slice("a", 0, whole);
            state.sliced().slice("a", 0, one.tensors().getLast());
          };
      assertThatThrownBy(
              () -> checkpointer.save(POSITION, SavedFolder.RUN, Map.of(), List.of(twice)))
          .hasMessageContaining("two parts of the run remember a tensor as slices/a@0");
    }
  }

  // Files of other ranks

  @Test
  void anUnchangedCutReadsNoFileOfAnotherRank() throws IOException {
    var whole = random(9);
    var checkpoint = saveCut(RunState::sliced, whole, CUTS.get(2));
    Files.delete(checkpoint.folder().resolve(SavedCheckpoint.rankFile(1)));
    for (int rank : List.of(0, 2)) {
      restore(checkpoint, rank, 3, slices(RunState::sliced, unknown(LENGTH), CUTS.get(2), rank));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void noFlippedBitInFilesOfOtherRanksIsOverlooked(boolean hasSameRanks) throws IOException {
    var whole = random(10);
    var checkpoint = saveCut(RunState::sliced, whole, CUTS.get(1));
    var file = checkpoint.folder().resolve(SavedCheckpoint.rankFile(1));
    byte[] sound = Files.readAllBytes(file);
    for (int at = 0; at < sound.length; at += 37) {
      byte[] flipped = sound.clone();
      flipped[at] ^= 4;
      Files.write(file, flipped);
      var all = slices(RunState::shared, unknown(LENGTH), List.of(0, LENGTH), 0);
      assertThat(damage(checkpoint, 0, hasSameRanks ? 2 : 3, all))
          .as("byte %d", at)
          .hasValueSatisfying(
              damage ->
                  assertThat(damage)
                      .hasMessageContaining(SavedCheckpoint.rankFile(1) + " is damaged"));
    }
  }

  @Test
  void missingFilesOfOtherRanksAreDamage() throws IOException {
    var checkpoint = saveCut(RunState::sliced, random(11), CUTS.get(1));
    Files.delete(checkpoint.folder().resolve(SavedCheckpoint.rankFile(1)));
    var all = slices(RunState::shared, unknown(LENGTH), List.of(0, LENGTH), 0);
    assertThat(damage(checkpoint, 0, 2, all))
        .hasValueSatisfying(
            damage -> assertThat(damage).hasMessageContaining(SavedCheckpoint.rankFile(1)));
  }

  /** Files of several blocks, of which one rank reads some. */
  @Test
  void onlyTheBlocksThatAreReadCount() throws IOException {
    int length = 2 << 20;
    var whole = Tensors.random(ScalarType.Float, new Random(12), length);
    var checkpoint = saveCut(RunState::sliced, whole, List.of(0, 16, length));
    var file = checkpoint.folder().resolve(SavedCheckpoint.rankFile(1));
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length - 1]++;
    Files.write(file, bytes);
    var first = slices(RunState::sliced, unknown(length), List.of(0, length / 2), 0);
    restore(checkpoint, 0, 3, first);
    assertThat(Tensors.bytes(first.tensors().getLast()))
        .isEqualTo(Tensors.bytes(whole.narrow(0, 1, length / 2 - 1)));
    assertThat(
            damage(
                checkpoint,
                2,
                3,
                slices(RunState::sliced, unknown(length), List.of(length / 2, length), 0)))
        .hasValueSatisfying(damage -> assertThat(damage).hasMessageContaining("is damaged"));
  }

  // Sums

  /** A rank of a run without sharding: its part of the sum is as long as the whole. */
  private record Whole(Tensor sum) implements Stateful {

    @Override
    public void remember(RunState state) {
      state.summed().part("window").tensor("gradients", sum);
      state.summed().part("window").number("count", 3);
    }
  }

  /** A rank that holds the total of its slice. */
  private record Share(long offset, Tensor sum) implements Stateful {

    static Share of(Tensor whole, List<Integer> cut, int rank) {
      int begin = cut.get(rank);
      return new Share(begin, whole.narrow(0, begin, cut.get(rank + 1) - begin).clone());
    }

    @Override
    public void remember(RunState state) {
      state.summed().part("window").slice("gradients", offset, sum);
      state.summed().part("window").number("count", 3);
    }
  }

  private static List<Share> shares(Tensor whole, List<Integer> cut) {
    List<Share> shares = new ArrayList<>();
    for (int rank = 0; rank < cut.size() - 1; rank++) {
      shares.add(Share.of(whole, cut, rank));
    }
    return shares;
  }

  private static <T extends Stateful> List<T> restored(
      SavedCheckpoint checkpoint, int size, Function<Integer, T> ranks) {
    List<T> restored = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      var part = ranks.apply(rank);
      restore(checkpoint, rank, size, part);
      restored.add(part);
    }
    return restored;
  }

  @Test
  void totalsOfSlicesAreCutAnew() {
    var total = random(13);
    for (var then : CUTS) {
      var checkpoint = save(shares(total, then));
      for (var now : CUTS) {
        int size = now.size() - 1;
        var shares = restored(checkpoint, size, rank -> Share.of(unknown(LENGTH), now, rank));
        for (int rank = 0; rank < size; rank++) {
          assertThat(Tensors.bytes(shares.get(rank).sum()))
              .as("from %s to %s, rank %d", then, now, rank)
              .isEqualTo(Tensors.bytes(Share.of(total, now, rank).sum()));
        }
      }
    }
  }

  @Test
  void partsOfAPlainRunBecomeTotalsInTheOrderOfRanks() {
    var parts = List.of(torchRandom(14), torchRandom(15), torchRandom(16));
    var checkpoint = save(parts.stream().map(Whole::new).toList());
    var total = parts.get(0).add(parts.get(1)).add(parts.get(2));
    for (var now : CUTS) {
      int size = now.size() - 1;
      var shares = restored(checkpoint, size, rank -> Share.of(unknown(LENGTH), now, rank));
      for (int rank = 0; rank < size; rank++) {
        assertThat(Tensors.bytes(shares.get(rank).sum()))
            .isEqualTo(Tensors.bytes(Share.of(total, now, rank).sum()));
      }
    }
  }

  private static Tensor torchRandom(int seed) {
    var random = new Random(seed);
    float[] values = new float[LENGTH];
    for (int i = 0; i < LENGTH; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return Tensors.floats(values);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5})
  void totalsOfSlicesAreDealtOutToAPlainRun(int size) {
    var total = torchRandom(17);
    for (var then : CUTS) {
      var checkpoint = save(shares(total, then));
      var wholes = restored(checkpoint, size, _ -> new Whole(unknown(LENGTH)));
      var sum = wholes.getFirst().sum().clone();
      wholes.subList(1, size).forEach(whole -> sum.add_(whole.sum()));
      assertThat(Tensors.bytes(sum)).as("from %s", then).isEqualTo(Tensors.bytes(total));
      for (int rank = 0; rank < size; rank++) {
        assertThat(Tensors.bytes(wholes.get(rank).sum()))
            .isEqualTo(Tensors.bytes(dealt(total, then, rank, size)));
      }
    }
  }

  private static Tensor dealt(Tensor total, List<Integer> cut, int rank, int size) {
    var dealt = total.new_zeros(total.shape());
    for (int old = rank; old < cut.size() - 1; old += size) {
      var share = Share.of(total, cut, old);
      dealt.narrow(0, share.offset(), share.sum().numel()).copy_(share.sum());
    }
    return dealt;
  }

  @Test
  void anUnchangedCutOfASumReadsNoFileOfAnotherRank() throws IOException {
    var total = random(18);
    var checkpoint = save(shares(total, CUTS.get(1)));
    Files.delete(checkpoint.folder().resolve(SavedCheckpoint.rankFile(1)));
    var share = Share.of(unknown(LENGTH), CUTS.get(1), 0);
    restore(checkpoint, 0, 2, share);
    assertThat(Tensors.bytes(share.sum()))
        .isEqualTo(Tensors.bytes(Share.of(total, CUTS.get(1), 0).sum()));
  }

  @Test
  void aSumThatNobodySavedIsRefused() {
    Stateful nothing = state -> state.summed().part("window").number("count", 3);
    var checkpoint = save(List.of(nothing, nothing));
    assertThatThrownBy(() -> restore(checkpoint, 0, 2, Share.of(unknown(9), List.of(0, 9), 0)))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("holds no elements [0, 9) of the sum 'window/gradients'");
    assertThatThrownBy(() -> restore(checkpoint, 0, 2, new Whole(unknown(9))))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("holds no tensor 'sum/window/gradients'");
  }

  @Test
  void aSumThatIsLongerThanTheModelIsRefused() {
    var checkpoint = save(shares(random(19), CUTS.get(1)));
    assertThatThrownBy(() -> restore(checkpoint, 1, 2, new Whole(unknown(900))))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("holds elements [500, 1000) of 'window/gradients'")
        .hasMessageContaining("only 900 in the model");
  }

  @Test
  void namesOfSlicesAreToldFromOthers() {
    assertThat(
            List.of("slices/a@b@12", "sum-slices/a@0").stream()
                .map(SliceName::parse)
                .map(Optional::orElseThrow))
        .containsExactly(new SliceName("slices/a@b", 12), new SliceName("sum-slices/a", 0));
    for (var other : List.of("own/a@3", "slices/a", "slices/a@", "slices/a@-1", "slices/a@x")) {
      assertThat(SliceName.parse(other)).as(other).isEmpty();
    }
  }
}
