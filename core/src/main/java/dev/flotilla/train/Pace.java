package dev.flotilla.train;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.KeyValueStore;
import dev.flotilla.collective.RendezvousException;
import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.LongSupplier;

/**
 * Names stragglers while a run goes on, whatever exchanges its gradients.
 *
 * <p>Every few seconds each rank leaves in the key-value store how long it has waited in
 * collectives; rank 0 reads them and tells. It costs a short message, and no rank waits for another
 * because of it.
 */
final class Pace {

  private static final Duration EVERY = Duration.ofSeconds(5);
  private static final String KEY = "pace/";

  private final Collective ranks;
  private final EventSink events;
  private final LongSupplier clock;
  private final KeyValueStore store;
  private final Reading[] before;
  private long every = EVERY.toNanos();
  private long start;
  private long waitedBefore;
  private long last;
  private boolean isOver;
  private OptionalInt named = OptionalInt.empty();

  /** What a rank has said: since when, and for how long of it it has waited. */
  private record Reading(long wall, long waited) {

    static final Reading NONE = new Reading(0, 0);

    static Reading parse(String text) {
      int blank = text.indexOf(' ');
      return new Reading(
          Long.parseLong(text.substring(0, blank)), Long.parseLong(text.substring(blank + 1)));
    }

    String text() {
      return wall + " " + waited;
    }

    double shareSince(Reading earlier) {
      return (waited - earlier.waited) / (double) (wall - earlier.wall);
    }
  }

  Pace(Collective ranks, EventSink events, LongSupplier clock) {
    this.ranks = ranks;
    this.events = events;
    this.clock = clock;
    store = ranks.keyValueStore().section("pace");
    before = new Reading[ranks.size()];
    Arrays.fill(before, Reading.NONE);
    isOver = ranks.size() == 1;
  }

  /** Looks at other intervals than usual; for tests. */
  void every(Duration interval) {
    every = interval.toNanos();
  }

  /** Tells of this rank, and on rank 0 of all, where that is due after a window. */
  void afterWindow(long updates) {
    if (isOver) {
      return;
    }
    long now = clock.getAsLong();
    if (start == 0) {
      // The first window pays for what is made once, and not on all ranks alike.
      start = now;
      waitedBefore = ranks.waitedNanos();
      last = now;
      return;
    }
    if (now - last < every) {
      return;
    }
    last = now;
    try {
      store.set(KEY + ranks.rank(), here(now).text());
      if (ranks.rank() == 0) {
        look(updates);
      }
    } catch (RendezvousException lost) {
      // The exchange says what has become of the others; this is not worth a run.
      isOver = true;
    }
  }

  private Reading here(long now) {
    return new Reading(now - start, ranks.waitedNanos() - waitedBefore);
  }

  /** Compares ranks when all of them have said something new. */
  private void look(long updates) {
    var now = new Reading[before.length];
    var shares = new double[before.length];
    for (int rank = 0; rank < before.length; rank++) {
      now[rank] = store.get(KEY + rank).map(Reading::parse).orElse(before[rank]);
      if (now[rank].wall() <= before[rank].wall()) {
        return;
      }
      shares[rank] = now[rank].shareSince(before[rank]);
    }
    System.arraycopy(now, 0, before, 0, now.length);
    tell(updates, SlowRanks.in(shares));
  }

  /** A rank is named when it becomes slow, and once more when it keeps up again. */
  private void tell(long updates, Optional<SlowRanks.Slow> slow) {
    var rank = slow.map(it -> OptionalInt.of(it.rank())).orElse(OptionalInt.empty());
    if (rank.equals(named)) {
      return;
    }
    if (named.isPresent() && slow.isEmpty()) {
      events.on(new TrainingEvent.Straggler(updates, named.getAsInt(), 1, 0));
    }
    slow.ifPresent(
        it -> events.on(new TrainingEvent.Straggler(updates, it.rank(), it.times(), it.share())));
    named = rank;
  }
}
