package dev.flotilla.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whenever power is lost, what has a checkpoint's name is whole, and the last commit is there. */
@Tag("slow")
class CrashStateTests {

  private static final int RANKS = 3;
  private static final int SAVES = 4;
  private static final int SEED = 20;

  /** Which of the operations that are not durable yet power loss keeps, so many times. */
  private static final int RANDOM_STATES = Integer.getInteger("flotilla.test.crashes", 2);

  @TempDir Path folder;

  @Test
  void everyStateThatPowerLossCanLeaveLoads() throws IOException {
    var disk = new RecordingDisk();
    var root = Files.createDirectory(folder.resolve("checkpoints"));
    var saved = new SavedFolder(root, disk, RANKS, 2, 700);
    var returned = new TreeMap<Integer, Integer>();
    saved.take("first");
    for (int number = 1; number <= SAVES; number++) {
      assertThat(saved.save(number, "first")).isEmpty();
      returned.put(disk.operations().size(), number);
    }

    int states = 0;
    var crashed = new CrashedDisk(root);
    for (int played = 0; played < disk.operations().size(); played++) {
      crashed.play(disk.operations().get(played));
      var last = returned.floorEntry(played + 1);
      states += check(crashed, last == null ? 0 : last.getValue(), played);
    }
    assertThat(states).isGreaterThanOrEqualTo(160 * RANDOM_STATES);
  }

  private int check(CrashedDisk crashed, int lastReturned, int played) throws IOException {
    var random = new SplittableRandom(SEED + played);
    List<BooleanSupplier> choices = new ArrayList<>(List.of(() -> true));
    if (!crashed.isSettled()) {
      choices.add(() -> false);
      for (int i = 0; i < RANDOM_STATES; i++) {
        double share = (i + 0.5) / RANDOM_STATES;
        choices.add(() -> random.nextDouble() < share);
      }
    }
    for (var choice : choices) {
      var state = folder.resolve("state");
      crashed.materialize(state, choice, random);
      assertLoads(state, lastReturned, played);
      delete(state);
    }
    return choices.size();
  }

  private static void assertLoads(Path state, int lastReturned, int played) {
    var candidates = Restorer.candidates(state);
    for (var candidate : candidates) {
      var checkpoint = SavedCheckpoint.open(candidate);
      checkpoint.verifyAll();
      for (int rank = 0; rank < RANKS; rank++) {
        var text = TextState.empty();
        assertThat(Restorer.restore(checkpoint, rank, RANKS, List.of(text))).isEmpty();
        assertThat(text.isOf(SavedCheckpoint.positionOf(candidate), rank))
            .as("%s after operation %d", candidate.getFileName(), played)
            .isTrue();
      }
    }
    if (lastReturned > 0) {
      assertThat(candidates).as("after operation %d", played).isNotEmpty();
      assertThat(SavedCheckpoint.positionOf(candidates.getFirst()))
          .isGreaterThanOrEqualTo(SavedFolder.position(lastReturned));
    }
  }

  private static void delete(Path state) throws IOException {
    try (var paths = Files.walk(state)) {
      for (var path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
