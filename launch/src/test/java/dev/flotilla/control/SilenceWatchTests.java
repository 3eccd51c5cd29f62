package dev.flotilla.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SilenceWatchTests {

  private static final Peer RANK = new Peer.Rank(1);

  private final AtomicLong clock = new AtomicLong();
  private final SilenceWatch watch = new SilenceWatch(clock::get);

  private void pass(Duration time, Duration step) {
    for (long passed = 0; passed < time.toMillis(); passed += step.toMillis()) {
      clock.addAndGet(step.toNanos());
      watch.tick();
    }
  }

  @Test
  void countsFromTheLastSignOfLife() {
    watch.heard(RANK);
    pass(Duration.ofSeconds(4), Duration.ofMillis(100));
    watch.heard(RANK);
    pass(Duration.ofSeconds(3), Duration.ofMillis(100));

    assertThat(watch.of(RANK)).isEqualTo(Duration.ofSeconds(3));
    assertThat(watch.silentFor(Duration.ofSeconds(3))).containsExactly(RANK);
    assertThat(watch.silentFor(Duration.ofMillis(3100))).isEmpty();
    watch.forget(RANK);
    assertThat(watch.silentFor(Duration.ZERO)).isEmpty();
  }

  @Test
  void doesNotCountTheTimeInWhichItSleptItself() {
    watch.heard(RANK);
    clock.addAndGet(Duration.ofHours(8).toNanos());
    watch.tick();

    assertThat(watch.of(RANK)).isLessThan(Duration.ofSeconds(1));
  }
}
