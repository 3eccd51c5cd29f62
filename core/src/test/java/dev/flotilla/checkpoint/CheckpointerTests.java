package dev.flotilla.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CheckpointerTests {

  private static final int RANKS = 2;

  @TempDir Path folder;

  private SavedFolder saving(Disk disk, int keep) {
    return new SavedFolder(folder, disk, RANKS, keep, 100);
  }

  private List<String> names() {
    return Restorer.candidates(folder).stream()
        .map(path -> String.valueOf(path.getFileName()))
        .toList();
  }

  private List<String> hidden() throws IOException {
    try (var paths = Files.list(folder)) {
      return paths
          .map(path -> String.valueOf(path.getFileName()))
          .filter(name -> name.startsWith(".") && !name.equals(".writer"))
          .toList();
    }
  }

  @Test
  void keepsTheNewest() throws IOException {
    var saved = saving(new RealDisk(), 2);
    saved.take("writer");
    for (int number = 1; number <= 5; number++) {
      assertThat(saved.save(number, "writer")).isEmpty();
    }
    assertThat(names())
        .containsExactly("update-0000000005.step-0000000015", "update-0000000004.step-0000000012");
    assertThat(hidden()).isEmpty();
  }

  @Test
  void neverCountsADamagedOneAmongThoseKept() throws IOException {
    var saved = saving(new RealDisk(), 2);
    saved.take("writer");
    assertThat(saved.save(1, "writer")).isEmpty();
    assertThat(saved.save(2, "writer")).isEmpty();
    Files.delete(folder.resolve(names().getFirst()).resolve(Manifest.FILE));
    assertThat(saved.save(3, "writer")).isEmpty();
    assertThat(names()).contains("update-0000000001.step-0000000003");
  }

  @Test
  void isPrivateToItsOwner() throws IOException {
    var saved = saving(new RealDisk(), 2);
    saved.take("writer");
    assertThat(saved.save(1, "writer")).isEmpty();
    try (var paths = Files.walk(folder.resolve(names().getFirst()))) {
      for (var path : paths.toList()) {
        var expected = Files.isDirectory(path) ? "rwx------" : "rw-------";
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
            .as("%s", path)
            .isEqualTo(expected);
      }
    }
  }

  @Test
  void anEarlierWriterThatWakesUpCannotCommit() {
    var saved = saving(new RealDisk(), 2);
    saved.take("frozen");
    assertThat(saved.save(1, "frozen")).isEmpty();
    saved.take("live");
    assertThat(saved.save(2, "frozen"))
        .hasValueSatisfying(reason -> assertThat(reason).contains("another run has taken over"));
    assertThat(saved.save(2, "live")).isEmpty();
    assertThat(names()).hasSize(2);
  }

  @Test
  void aNewAttemptRemovesWhatADeadOneLeft() throws IOException {
    var saved = saving(new RealDisk(), 2);
    saved.take("dead");
    new Checkpointer(folder, 0, RANKS, 2, "dead", SaveFailures.none())
        .begin(SavedFolder.position(1));
    assertThat(hidden()).hasSize(1);
    saved.take("live");
    assertThat(hidden()).isEmpty();
  }

  @Test
  void savingTheSamePlaceAgainKeepsWhatIsThere() {
    var saved = saving(new RealDisk(), 2);
    saved.take("first");
    assertThat(saved.save(1, "first")).isEmpty();
    saved.take("second");
    assertThat(saved.save(1, "second")).isEmpty();
    SavedCheckpoint.open(folder.resolve(names().getFirst())).verifyAll();
  }

  /** Every single operation of a save fails once, for a moment or for good. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void olderCheckpointsSurviveEveryFailure(boolean lasts) throws IOException {
    boolean isThrough = false;
    int failed = 0;
    for (int at = 1; !isThrough; at++) {
      var place = Files.createDirectory(folder.resolve("at-" + at));
      var before = new SavedFolder(place, new RealDisk(), RANKS, 1, 100);
      before.take("writer");
      assertThat(before.save(1, "writer")).isEmpty();

      var disk = new FailingDisk(at, lasts);
      var result = new SavedFolder(place, disk, RANKS, 1, 100).save(2, "writer");

      var left = Restorer.candidates(place);
      assertThat(left).as("after a failure at operation %d", at).isNotEmpty();
      left.forEach(checkpoint -> SavedCheckpoint.open(checkpoint).verifyAll());
      result.ifPresent(reason -> assertThat(reason).contains("Input/output error"));
      failed += result.isPresent() ? 1 : 0;
      isThrough = disk.done() < at;
    }
    assertThat(failed).isGreaterThan(20);
  }

  @Test
  void aFullDiskCostsNoOlderCheckpoint() throws IOException {
    int failed = 0;
    for (int size = 0; size < 20; size++) {
      var place = Files.createDirectory(folder.resolve("size-" + size));
      var before = new SavedFolder(place, new RealDisk(), RANKS, 1, 100);
      before.take("writer");
      assertThat(before.save(1, "writer")).isEmpty();

      var result =
          new SavedFolder(place, new FullDisk(250L * size, false), RANKS, 1, 100).save(2, "writer");

      var left = Restorer.candidates(place);
      assertThat(left).as("with room for %d bytes", 250 * size).isNotEmpty();
      left.forEach(checkpoint -> SavedCheckpoint.open(checkpoint).verifyAll());
      result.ifPresent(reason -> assertThat(reason).contains("No space left on device"));
      failed += result.isPresent() ? 1 : 0;
    }
    assertThat(failed).isBetween(5, 19);
  }

  /** What such a rank would leave in the folder for rank 0 to read needs room on the same disk. */
  @Test
  @Timeout(60)
  void aRankWhoseDiskIsFullIsHeardAtOnce() throws IOException {
    var failures = new Failures();
    var position = SavedFolder.position(1);
    try (var first = new Checkpointer(folder, new RealDisk(), 0, 2, 1, "writer", failures);
        var second =
            new Checkpointer(folder, new FullDisk(0, false), 1, 2, 1, "writer", failures)) {
      first.takeFolder();
      first.begin(position);
      first.save(position, SavedFolder.RUN, Map.of(), List.of(TextState.at(position, 0)));
      second.save(position, SavedFolder.RUN, Map.of(), List.of(TextState.at(position, 1)));
      assertThat(first.await()).contains("rank 1 failed: No space left on device");
      assertThat(second.await()).isPresent();
    }
    assertThat(names()).isEmpty();
    assertThat(hidden()).isEmpty();
  }

  private static final class Failures implements SaveFailures {

    private final Map<String, String> reported = new ConcurrentHashMap<>();

    @Override
    public void report(String save, String reason) {
      reported.put(save, reason);
    }

    @Override
    public Optional<String> of(String save) {
      return Optional.ofNullable(reported.get(save));
    }
  }

  @Test
  void whatIsPutAsideIsNeitherTakenUpNorRemoved() throws IOException {
    var saved = saving(new RealDisk(), 2);
    saved.take("writer");
    assertThat(saved.save(1, "writer")).isEmpty();
    assertThat(saved.save(2, "writer")).isEmpty();
    try (var checkpointer = new Checkpointer(folder, 0, RANKS, 1, "writer", SaveFailures.none())) {
      assertThat(checkpointer.putAside(it -> it.updates() > 1, _ -> {}))
          .contains(folder.resolve("aside-1"));
      assertThat(checkpointer.putAside(it -> it.updates() > 1, _ -> {})).isEmpty();
    }
    assertThat(names()).containsExactly("update-0000000001.step-0000000003");
    assertThat(saved.save(3, "writer")).isEmpty();
    SavedCheckpoint.open(Restorer.candidates(folder.resolve("aside-1")).getFirst()).verifyAll();
  }

  @Test
  void checkpointsOfAnotherRunAreNotRemoved() {
    var saved = saving(new RealDisk(), 1);
    saved.take("writer");
    assertThat(saved.save(1, "writer")).isEmpty();
    assertThat(saved.of("fedcba9876543210").save(2, "writer")).isEmpty();
    assertThat(names()).hasSize(2);
  }

  @Test
  void saysHowMuchRoomIsMissingBeforeItWrites() {
    var saved = new SavedFolder(folder, new FullDisk(-1, true), RANKS, 1, 100);
    new SavedFolder(folder, new RealDisk(), RANKS, 1, 100).take("writer");
    assertThat(saved.save(1, "writer"))
        .hasValueSatisfying(
            reason -> assertThat(reason).contains("the state of rank").contains("are free"));
  }

  @Test
  void refusesAFolderThatCannotBeMade() throws IOException {
    var file = Files.createFile(folder.resolve("file"));
    var checkpointer =
        new Checkpointer(file.resolve("checkpoints"), 0, 1, 1, "writer", SaveFailures.none());
    assertThatThrownBy(checkpointer::takeFolder)
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("cannot write checkpoints to");
  }

  @Test
  void twoPartsCannotRememberUnderOneName() {
    var state = TextState.at(SavedFolder.position(1), 0);
    var checkpointer = new Checkpointer(folder, 0, 1, 1, "writer", SaveFailures.none());
    assertThatThrownBy(
            () ->
                checkpointer.save(
                    SavedFolder.position(1), SavedFolder.RUN, Map.of(), List.of(state, state)))
        .hasMessageContaining("two parts of the run remember something as weights");
  }

  @Test
  void refusesWhatNobodyTakesUp() {
    var saved = saving(new RealDisk(), 2);
    saved.take("writer");
    assertThat(saved.save(1, "writer")).isEmpty();
    var checkpoint = SavedCheckpoint.open(folder.resolve(names().getFirst()));
    assertThatThrownBy(() -> Restorer.restore(checkpoint, 0, RANKS, List.of()))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("holds what this run has no use for: [weights]");
  }
}
