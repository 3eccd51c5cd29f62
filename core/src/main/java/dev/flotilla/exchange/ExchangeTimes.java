package dev.flotilla.exchange;

import dev.flotilla.arena.Bucket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * When things happened in one window, in nanoseconds of this rank's clock.
 *
 * @param arrivals when each parameter's gradient was complete, in the layout's order, with 0 for
 *     those of which nothing is known
 * @param backwardStart when the last backward began, 0 if nothing is known
 * @param backwardEnd when the last backward ended
 * @param buckets when each bucket was reduced, in the plan's order
 * @param end when all of them were
 */
public record ExchangeTimes(
    List<Long> arrivals, long backwardStart, long backwardEnd, List<BucketTime> buckets, long end) {

  /**
   * When one bucket was reduced.
   *
   * @param bucket which
   * @param start when its exchange began
   * @param end when it was done
   */
  public record BucketTime(Bucket bucket, long start, long end) {

    /** Returns how long it took. */
    public long nanos() {
      return end - start;
    }
  }

  /**
   * Returns the times of a window that has just been reduced.
   *
   * @param buckets when each was; what the last one has left under way comes to its end now
   * @param watch saw the last backward, if anybody did
   */
  static ExchangeTimes of(List<BucketTime> buckets, Optional<ArrivalWatch> watch) {
    long end = System.nanoTime();
    List<BucketTime> all = new ArrayList<>(buckets);
    var last = all.removeLast();
    all.add(new BucketTime(last.bucket(), last.start(), end));
    return watch
        .map(
            it -> {
              var arrivals = Arrays.stream(it.arrivals()).boxed().toList();
              return new ExchangeTimes(arrivals, it.start(), it.end(), all, end);
            })
        .orElseGet(() -> new ExchangeTimes(List.of(), 0, 0, all, end));
  }

  /** Returns how long the last backward took, 0 if it was not watched. */
  public long backward() {
    return backwardEnd - backwardStart;
  }

  /** Returns how long after the start of backward the first bucket left, 0 if not watched. */
  public long firstBucket() {
    return backwardStart == 0 ? 0 : buckets.getFirst().start() - backwardStart;
  }

  /** Returns how long buckets were under way. */
  public long busy() {
    return busyUntil(Long.MAX_VALUE);
  }

  /** Returns how long buckets were under way while backward went on. */
  public long hidden() {
    return busyUntil(backwardEnd);
  }

  /** Two may be under way at once, which counts once. */
  private long busyUntil(long limit) {
    long busy = 0;
    long counted = Long.MIN_VALUE;
    for (var time : buckets) {
      long from = Math.max(time.start(), counted);
      long to = Math.min(time.end(), limit);
      busy += Math.max(0, to - from);
      counted = Math.max(counted, to);
    }
    return busy;
  }
}
