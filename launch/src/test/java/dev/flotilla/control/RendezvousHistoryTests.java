package dev.flotilla.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * C3: eight ranks of four hosts meet, leave values for each other and read them, while links are
 * cut and hold back, ranks die and come twice, and attempts begin anew. What they saw must have
 * been possible: one process for each rank, one list of members for each attempt, nothing of an
 * earlier attempt, and every register as if there was one copy of it.
 */
@Tag("slow")
@Timeout(3600)
class RendezvousHistoryTests {

  private static final int RUNS = Integer.getInteger("flotilla.test.histories", 3);
  private static final int SECONDS = Integer.getInteger("flotilla.test.history.seconds", 2);

  /** They mostly wait. */
  private static final int AT_A_TIME = 10;

  @TempDir Path folder;

  @Test
  void nothingIsSeenThatCannotBe() throws Exception {
    long ops = 0;
    long generations = 0;
    long lists = 0;
    long lost = 0;
    var runs = new ArrayList<Future<RendezvousRun>>();
    try (var threads = Executors.newFixedThreadPool(AT_A_TIME)) {
      for (int i = 0; i < RUNS; i++) {
        int seed = 100 + i;
        runs.add(threads.submit(() -> run(seed)));
      }
      for (Future<RendezvousRun> run : runs) {
        RendezvousRun done = run.get();
        assertThat(done.history().violations()).as("seed %d", done.seed()).isEmpty();
        ops += done.history().size();
        generations += done.generations();
        lists += done.history().wholeLists();
        lost += done.history().lost.get();
      }
    }
    System.out.printf(
        "%d runs of %d s: %d reads and writes, %d of unknown outcome, %d attempts, %d with a whole"
            + " list; no violation%n",
        RUNS, SECONDS, ops, lost, generations, lists);
    // On a busy machine little happens in a short time.
    assertThat(ops).isGreaterThan(5L * RUNS);
    assertThat(lists).isPositive();
    assertThat(generations).isGreaterThan(RUNS);
  }

  private RendezvousRun run(int seed) throws IOException, InterruptedException {
    try (var run = RendezvousRun.start(folder.resolve("run" + seed), seed)) {
      run.disturb(Duration.ofSeconds(SECONDS));
      return run;
    }
  }
}
