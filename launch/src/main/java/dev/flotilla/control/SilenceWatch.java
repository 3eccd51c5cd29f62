package dev.flotilla.control;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Counts for how long each peer has been silent.
 *
 * <p>Only the time in which this process was awake counts: a launcher that was stopped together
 * with its ranks must not take them for dead when it wakes up.
 */
public final class SilenceWatch {

  private static final long LONGEST_STEP = Duration.ofMillis(500).toNanos();

  private final LongSupplier clock;
  private final Map<Peer, Long> silence = new HashMap<>();
  private long last;

  /** Creates a watch by a clock in nanoseconds. */
  public SilenceWatch(LongSupplier clock) {
    this.clock = clock;
    this.last = clock.getAsLong();
  }

  /** Notes a sign of life; the first one starts the watch over a peer. */
  public void heard(Peer peer) {
    silence.put(peer, 0L);
  }

  /** Ends the watch over a peer. */
  public void forget(Peer peer) {
    silence.remove(peer);
  }

  /** Lets time pass; to be called often, after all signs of life were noted. */
  public void tick() {
    long now = clock.getAsLong();
    long step = Math.clamp(now - last, 0, LONGEST_STEP);
    last = now;
    silence.replaceAll((peer, silent) -> silent + step);
  }

  /** Returns how long a peer has been silent; one that is not watched never is. */
  public Duration of(Peer peer) {
    return Duration.ofNanos(silence.getOrDefault(peer, 0L));
  }

  /** Returns those that have been silent for at least so long. */
  public List<Peer> silentFor(Duration atLeast) {
    return silence.entrySet().stream()
        .filter(entry -> entry.getValue() >= atLeast.toNanos())
        .map(Map.Entry::getKey)
        .toList();
  }
}
