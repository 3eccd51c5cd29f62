package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.testkit.Ranks;
import dev.flotilla.world.Rendezvous;
import dev.flotilla.world.World;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class FirstOfHostTests {

  private static final Duration LONG = Duration.ofSeconds(8);

  /** Returns the place of a rank on hosts of two ranks each. */
  private static World place(Collective group) {
    var nowhere = new Rendezvous.SharedFile(Path.of("unused"));
    int rank = group.rank();
    int nodes = Math.ceilDiv(group.size(), 2);
    return new World(rank, group.size(), rank % 2, 2, rank / 2, nodes, nowhere);
  }

  @Test
  void theFirstOfEachHostComesBeforeItsOthers() {
    List<Integer> began = new CopyOnWriteArrayList<>();
    List<Integer> ended = new CopyOnWriteArrayList<>();
    var results =
        Ranks.call(
            4,
            group ->
                FirstOfHost.run(
                    group,
                    place(group),
                    LONG,
                    () -> {
                      began.add(group.rank());
                      if (group.rank() % 2 == 0) {
                        Thread.sleep(100);
                      } else {
                        assertThat(ended).contains(group.rank() - 1);
                      }
                      ended.add(group.rank());
                      return 10 * group.rank();
                    }));
    assertThat(results).containsExactly(0, 10, 20, 30);
    assertThat(began).containsExactlyInAnyOrder(0, 1, 2, 3);
  }

  @Test
  void nobodyLeavesBeforeAllAreDone() {
    List<Integer> done = new CopyOnWriteArrayList<>();
    var seen =
        Ranks.call(
            3,
            group -> {
              FirstOfHost.run(
                  group,
                  place(group),
                  LONG,
                  () -> {
                    Thread.sleep(50L * group.rank());
                    return done.add(group.rank());
                  });
              return List.copyOf(done);
            });
    assertThat(seen).allSatisfy(each -> assertThat(each).hasSize(3));
  }

  @Test
  void whatTheFirstThrowsReachesTheOthersAsAMessage() {
    List<Integer> ran = new CopyOnWriteArrayList<>();
    var told =
        Ranks.call(
            4,
            group -> {
              try {
                FirstOfHost.run(
                    group,
                    place(group),
                    LONG,
                    () -> {
                      ran.add(group.rank());
                      if (group.rank() == 2) {
                        throw new IOException("no space left");
                      }
                      return group;
                    });
                return "nothing";
              } catch (IOException own) {
                return "own: " + own.getMessage();
              } catch (CollectiveException others) {
                return String.valueOf(others.getMessage());
              }
            });
    assertThat(told.get(2)).isEqualTo("own: no space left");
    assertThat(Collections.frequency(told, told.get(3))).isEqualTo(3);
    assertThat(told.get(3))
        .isEqualTo(
            "rank 2 failed: java.io.IOException: no space left; the other ranks have waited for it,"
                + " and stop too");
    assertThat(ran).doesNotContain(3);
  }

  @Test
  void aFirstThatHangsIsNamedInTime() {
    var end = new CountDownLatch(1);
    var told =
        Ranks.call(
            2,
            group -> {
              try {
                return FirstOfHost.run(
                    group,
                    place(group),
                    Duration.ofMillis(300),
                    () -> {
                      assertThat(end.await(8, TimeUnit.SECONDS)).isTrue();
                      return "done";
                    });
              } catch (CollectiveException failure) {
                return String.valueOf(failure.getMessage());
              } finally {
                end.countDown();
              }
            });
    assertThat(told.get(1))
        .isEqualTo(
            "the first rank of this host (local rank 0 of node 0) was not done within 0.3 s; see"
                + " its log, or allow more time");
    assertThat(told.get(0)).startsWith("rank 1 was not done within 0.3 s");
  }

  /** Two calls in a row do not read each other's answers. */
  @Test
  void callsFollowEachOther() {
    var sums =
        Ranks.call(
            2,
            group -> {
              int sum = 0;
              for (int i = 1; i <= 3; i++) {
                int number = i;
                sum += FirstOfHost.run(group, place(group), LONG, () -> number);
              }
              return sum;
            });
    assertThat(sums).containsExactly(6, 6);
  }

  @Test
  void aRankAloneJustRunsIt() {
    try (var alone = new SoloCollective()) {
      assertThatThrownBy(
              () ->
                  FirstOfHost.run(
                      alone,
                      World.solo(),
                      Duration.ZERO,
                      () -> {
                        throw new IOException("no space left");
                      }))
          .isInstanceOf(IOException.class);
    }
  }
}
