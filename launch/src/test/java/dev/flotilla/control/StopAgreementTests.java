package dev.flotilla.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class StopAgreementTests {

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private static StopGate gate() {
    return new StopGate(PATIENCE);
  }

  /** Ranks as threads that drift apart, asked at a random moment, told in random order. */
  @Test
  void allRanksStopAfterTheSameMicroStepWhateverTheInterleaving() throws Exception {
    var random = new Random(1);
    for (int round = 0; round < 400; round++) {
      int ranks = 1 + random.nextInt(8);
      long first = random.nextInt(3);
      long[] stops = agree(ranks, first, random);
      assertThat(Arrays.stream(stops).distinct()).as("round " + round).hasSize(1);
      assertThat(stops[0]).isGreaterThanOrEqualTo(first);
    }
  }

  private static long[] agree(int ranks, long first, Random random) throws Exception {
    List<StopGate> gates = IntStream.range(0, ranks).mapToObj(_ -> gate()).toList();
    var stops = new long[ranks];
    var threads = new ArrayList<Thread>();
    for (int rank = 0; rank < ranks; rank++) {
      int number = rank;
      long seed = random.nextLong();
      threads.add(
          Thread.ofVirtual()
              .start(() -> stops[number] = train(gates.get(number), first, new Random(seed))));
    }
    spin(random.nextInt(20_000));
    decide(gates, random);
    for (Thread thread : threads) {
      assertThat(thread.join(PATIENCE)).isTrue();
    }
    return stops;
  }

  private static long train(StopGate gate, long first, Random random) {
    spin(random.nextInt(5_000));
    for (long microStep = first; ; microStep++) {
      gate.begin(microStep);
      spin(random.nextInt(500));
      if (gate.stopsAfter(microStep)) {
        return microStep;
      }
      if (random.nextInt(64) == 0) {
        LockSupport.parkNanos(1);
      }
    }
  }

  private static void decide(List<StopGate> gates, Random random) {
    List<Integer> order = new ArrayList<>(IntStream.range(0, gates.size()).boxed().toList());
    Collections.shuffle(order, random);
    var vote = new StopVote(order.stream().<Peer>map(Peer.Rank::new).toList());
    for (int rank : order) {
      vote.take(new Peer.Rank(rank), new Frame.Position(gates.get(rank).request(), true));
      spin(random.nextInt(2_000));
    }
    assertThat(vote.missing()).isEmpty();
    Collections.shuffle(order, random);
    for (int rank : order) {
      gates.get(rank).decide(vote.decision());
      spin(random.nextInt(2_000));
    }
  }

  private static void spin(int rounds) {
    for (int i = 0; i < rounds; i++) {
      Thread.onSpinWait();
    }
  }

  /** Ranks that wait for each other in every micro-step must not lock each other out. */
  @RepeatedTest(20)
  void ranksInLockStepStopTogether() throws Exception {
    int ranks = 4;
    var barrier = new CyclicBarrier(ranks);
    List<StopGate> gates = IntStream.range(0, ranks).mapToObj(_ -> gate()).toList();
    var stops = new long[ranks];
    var threads = new ArrayList<Thread>();
    for (int rank = 0; rank < ranks; rank++) {
      int number = rank;
      threads.add(
          Thread.ofPlatform()
              .start(() -> stops[number] = trainInLockStep(gates.get(number), barrier)));
    }
    Thread.sleep(5);
    decide(gates, new Random());
    for (Thread thread : threads) {
      assertThat(thread.join(PATIENCE)).isTrue();
    }
    assertThat(Arrays.stream(stops).distinct()).hasSize(1);
  }

  private static long trainInLockStep(StopGate gate, CyclicBarrier barrier) {
    for (long microStep = 0; ; microStep++) {
      gate.begin(microStep);
      try {
        barrier.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      } catch (Exception e) {
        throw new IllegalStateException("a rank went on without the others", e);
      }
      if (gate.stopsAfter(microStep)) {
        return microStep;
      }
    }
  }

  /** The answer and the limit are one: however fast a rank runs, it has passed neither. */
  @Test
  void noRankIsFurtherThanOneMicroStepAfterItsAnswer() throws InterruptedException {
    StopGate gate = gate();
    var begun = new AtomicLong();
    var isOver = new AtomicBoolean();
    Thread trainer =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (long microStep = 0; !isOver.get(); microStep++) {
                    gate.begin(microStep);
                    begun.setRelease(microStep);
                  }
                });
    for (int i = 0; i < 50_000; i++) {
      long answer = gate.request();
      long limit = answer == RankPlace.NONE ? 0 : answer + 1;
      assertThat(begun.get()).isLessThanOrEqualTo(limit);
      spin(i % 50);
      assertThat(begun.get()).isLessThanOrEqualTo(limit);
      gate.cancel();
      spin(i % 70);
    }
    isOver.set(true);
    gate.reset();
    assertThat(trainer.join(PATIENCE)).isTrue();
  }

  @Test
  void stopsAfterTheFirstMicroStepWhenNoneWasBegun() {
    StopGate gate = gate();
    assertThat(gate.request()).isEqualTo(RankPlace.NONE);
    gate.begin(500);
    gate.decide(RankPlace.NONE);

    assertThat(gate.stopsAfter(500)).isTrue();
  }

  @Test
  void aLostLauncherLetsTrainingGoOn() {
    StopGate gate = gate();
    gate.begin(5);
    assertThat(gate.request()).isEqualTo(5);
    gate.cancel();

    gate.begin(7);
    assertThat(gate.stopsAfter(7)).isFalse();
  }

  @Test
  void waitsForADecisionOnlySoLong() {
    var gate = new StopGate(Duration.ofMillis(50));
    gate.begin(5);
    gate.request();

    gate.begin(6);
    assertThat(gate.stopsAfter(6)).isFalse();
    gate.begin(7);
    assertThat(gate.stopsAfter(7)).isFalse();
  }

  @Test
  void theFurthestRankDecides() {
    var vote = new StopVote(List.of(new Peer.Rank(0), new Peer.Rank(1), new Peer.Rank(2)));
    vote.take(new Peer.Rank(0), new Frame.Position(RankPlace.NONE, true));
    vote.take(new Peer.Rank(2), new Frame.Position(7, true));
    assertThat(vote.missing()).containsExactly(new Peer.Rank(1));
    vote.forget(new Peer.Rank(1));

    assertThat(vote.missing()).isEmpty();
    assertThat(vote.isPossible()).isTrue();
    assertThat(vote.decision()).isEqualTo(8);
    vote.take(new Peer.Rank(1), new Frame.Position(RankPlace.NONE, false));
    assertThat(vote.isPossible()).isFalse();
  }
}
