package dev.flotilla.app.advise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.app.doctor.Measured.Busy;
import dev.flotilla.config.StepTrial.Result;
import dev.flotilla.config.StepTrial.Sent;
import java.util.List;
import org.junit.jupiter.api.Test;

class StepModelTests {

  /** 1 MB takes 100 ms; messages take nothing. */
  private static final LinkRate LINK = new LinkRate(0, 1e-7, Busy.UNKNOWN, "test");

  private static Result trial(int microSteps, Sent sent) {
    // An update of 300 ms for one micro-step: 100 ms forward, 200 ms backward, of which 50 ms pass
    // before the first of 4 buckets is full.
    return new Result(1 << 20, List.of(0.3 * microSteps), 0.2, 0.05, 4, microSteps, 8, sent);
  }

  private static double seconds(Overlap overlap, Sent sent) {
    return StepModel.seconds(trial(1, sent), LINK, overlap);
  }

  @Test
  void withoutOverlapTheWireComesOnTop() {
    assertThat(seconds(Overlap.NONE, new Sent(2e6, 0, 0, 0))).isCloseTo(0.5, within(1e-9));
    var slow = new LinkRate(0.01, 1e-7, Busy.UNKNOWN, "test");
    // 6 messages one after the other.
    assertThat(StepModel.seconds(trial(1, new Sent(2e6, 0, 0, 6)), slow, Overlap.NONE))
        .isCloseTo(0.56, within(1e-9));
  }

  @Test
  void behindBackwardOnlyWhatIsLongerShows() {
    // W = 100 ms: 50 + 100 - 200 < 0, so the last of 4 buckets alone shows.
    assertThat(seconds(Overlap.BACKWARD, new Sent(1e6, 0, 0, 0))).isCloseTo(0.325, within(1e-9));
    // W = 400 ms: 50 + 400 - 200 = 250 ms show.
    assertThat(seconds(Overlap.BACKWARD, new Sent(4e6, 0, 0, 0))).isCloseTo(0.55, within(1e-9));
  }

  @Test
  void parametersAreGatheredBehindTheNextForward() {
    // Scatter 400 ms: 250 ms show. Gather 300 ms behind 100 ms of forward: 200 ms show.
    assertThat(seconds(Overlap.BOTH, new Sent(0, 3e6, 4e6, 0))).isCloseTo(0.75, within(1e-9));
    // Gather 80 ms: the first quarter of it shows.
    assertThat(seconds(Overlap.BOTH, new Sent(0, 0.8e6, 0, 0))).isCloseTo(0.32, within(1e-9));
  }

  @Test
  void whatIsGatheredTwiceHidesTwice() {
    // Half of 600 ms behind 100 ms of forward: 200 ms show. Half and 100 ms of sums behind 200 ms
    // of backward: 200 ms show.
    assertThat(seconds(Overlap.GATHERED, new Sent(0, 6e6, 1e6, 0))).isCloseTo(0.7, within(1e-9));
    // The same in each of two micro-steps.
    assertThat(StepModel.seconds(trial(2, new Sent(0, 12e6, 2e6, 0)), LINK, Overlap.GATHERED))
        .isCloseTo(1.4, within(1e-9));
  }

  @Test
  void sumsOfWhatIsGatheredWaitForTheFirstBucket() {
    // Half of 80 ms behind forward: the first quarter of it shows. 210 ms of sums leave after the
    // 50 ms before the first bucket, not after the 40 ms of what backward gathers: 60 ms show.
    assertThat(seconds(Overlap.GATHERED, new Sent(0, 0.8e6, 2.1e6, 0)))
        .isCloseTo(0.37, within(1e-9));
  }

  @Test
  void nothingHidesWhatTheFirstSegmentWaitsFor() {
    // Gather 80 ms, of which 60 ms come before the first segment, and not a quarter alone.
    assertThat(seconds(Overlap.BOTH, new Sent(0, 0.8e6, 0, 0, 0.6e6)))
        .isCloseTo(0.36, within(1e-9));
    // Of 200 ms, 120 are gathered before forward, and 80 in backward, behind which 190 ms of sums
    // leave: 70 ms show.
    assertThat(seconds(Overlap.GATHERED, new Sent(0, 2e6, 1.9e6, 0, 1.2e6)))
        .isCloseTo(0.49, within(1e-9));
  }

  @Test
  void movingBytesTakesTheCoresOfComputing() {
    // A byte takes 100 ns, or 125 ns while ranks compute, who then lose 25 ns.
    var busy = new LinkRate(0, 1e-7, new Busy(1.25e-7, 2.5e-8), "test");
    // 1 MB: 750 KB take 18.75 ms of work, and the last bucket, 25 ms, shows.
    assertThat(StepModel.seconds(trial(1, new Sent(1e6, 0, 0, 0)), busy, Overlap.BACKWARD))
        .isCloseTo(0.34375, within(1e-9));
    // 4 MB: while 1.5 MB travel, which takes 37.5 ms of work, 150 ms are computed; the rest shows.
    assertThat(StepModel.seconds(trial(1, new Sent(4e6, 0, 0, 0)), busy, Overlap.BACKWARD))
        .isCloseTo(0.5875, within(1e-9));
    // 0.4 MB each: twice 10 ms for one of four, and 7.5 ms of work for the others.
    assertThat(StepModel.seconds(trial(1, new Sent(0, 4e5, 4e5, 0)), busy, Overlap.BOTH))
        .isCloseTo(0.335, within(1e-9));
    // Half of 0.8 MB behind forward, half of it behind backward, all of which is work there.
    assertThat(StepModel.seconds(trial(1, new Sent(0, 8e5, 0, 0)), busy, Overlap.GATHERED))
        .isCloseTo(0.3275, within(1e-9));
  }

  @Test
  void aLinkThatSlowsDownBehindComputingHidesLess() {
    // Three times as slow while ranks compute, and no work.
    var slow = new LinkRate(0, 1e-7, new Busy(3e-7, 0), "test");
    // 1 MB: behind 150 ms half of it travels, and 50 ms show.
    assertThat(StepModel.seconds(trial(1, new Sent(1e6, 0, 0, 0)), slow, Overlap.BACKWARD))
        .isCloseTo(0.35, within(1e-9));
    assertThat(StepModel.seconds(trial(1, new Sent(1e6, 0, 0, 0)), slow, Overlap.NONE))
        .isCloseTo(0.4, within(1e-9));
    assertThat(
            StepModel.seconds(
                trial(1, new Sent(1e6, 0, 0, 0)), slow.withFreeCores(), Overlap.BACKWARD))
        .isCloseTo(0.325, within(1e-9));
  }

  @Test
  void whatIsStillGatheredAfterBackwardTravelsBetweenIdleCores() {
    var slow = new LinkRate(0, 1e-7, new Busy(3e-7, 0), "test");
    // Half of 600 ms behind 100 ms of forward: 75 ms show at least, and behind forward 33 of the
    // other 225 ms travel. Of the other half, 67 ms travel behind 200 ms of backward.
    assertThat(StepModel.seconds(trial(1, new Sent(0, 6e6, 0, 0)), slow, Overlap.GATHERED))
        .isCloseTo(0.8, within(1e-9));
    // Sums follow then: 100 ms.
    assertThat(StepModel.seconds(trial(1, new Sent(0, 6e6, 1e6, 0)), slow, Overlap.GATHERED))
        .isCloseTo(0.9, within(1e-9));
  }

  @Test
  void aLinkThatDoesNotSayWhatItTakesFromComputingTakesWhatRanksOfOneHostDo() {
    var onHost = new LinkRate(0, 1e-9, new Busy(3e-9, 1e-9), "host");
    assertThat(LINK.saysWork()).isFalse();
    var working = LINK.working(onHost, 1);
    assertThat(working.saysWork()).isTrue();
    // Computing adds to a byte what it adds there.
    assertThat(working.busy().secondsPerByte()).isCloseTo(1.02e-7, within(1e-18));
    assertThat(working.busy().work()).isEqualTo(1e-9);
    // A rank with twice the cores of one there loses half as much.
    assertThat(LINK.working(onHost, 0.5).busy().work()).isEqualTo(0.5e-9);
    // One that loses nothing is known all the same.
    assertThat(new LinkRate(0, 1e-9, new Busy(3e-9, 0), "host").saysWork()).isTrue();
  }

  @Test
  void backwardThatNobodyWatchedIsTwoThirds() {
    var unknown = new Result(1, List.of(0.3), 0, 0, 1, 1, 8, new Sent(4e6, 0, 0, 0));
    // 200 ms of backward, the first bucket after a quarter of it.
    assertThat(StepModel.seconds(unknown, LINK, Overlap.BACKWARD)).isCloseTo(0.7, within(1e-9));
    var several = new Result(1, List.of(0.3), 0, 0, 4, 1, 8, new Sent(4e6, 0, 0, 0));
    assertThat(StepModel.seconds(several, LINK, Overlap.BACKWARD)).isCloseTo(0.55, within(1e-9));
  }
}
