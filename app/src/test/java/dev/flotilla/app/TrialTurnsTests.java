package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class TrialTurnsTests {

  private static final Duration LONG = Duration.ofSeconds(30);

  @TempDir private Path folder;

  /** The first group has one process and three turns, the second two and five. */
  @Test
  void groupsTakeTurnsUntilOneIsOver() throws Exception {
    List<Integer> had = Collections.synchronizedList(new ArrayList<>());
    try (var pool = Executors.newFixedThreadPool(3)) {
      List<Future<?>> processes =
          List.of(
              pool.submit(() -> take(0, 1, 3, had)),
              pool.submit(() -> take(1, 2, 5, had)),
              pool.submit(() -> take(1, 2, 5, had)));
      for (var process : processes) {
        process.get(50, TimeUnit.SECONDS);
      }
    }
    assertThat(had).startsWith(0, 1, 1, 0, 1, 1, 0, 1, 1).hasSize(13);
    assertThat(had.subList(9, 13)).containsOnly(1);
  }

  private void take(int group, int processes, int count, List<Integer> had) {
    try (var turns = new TrialTurns(folder.resolve("turns"), group, processes, LONG)) {
      for (int i = 0; i < count; i++) {
        turns.begin();
        had.add(group);
        turns.end();
      }
    }
  }

  @Test
  void whoWaitsTooLongSaysWhy() {
    try (var turns = new TrialTurns(folder.resolve("turns"), 1, 1, Duration.ofMillis(20))) {
      assertThatThrownBy(turns::begin)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("has kept its turn for PT0.02S");
    }
  }
}
