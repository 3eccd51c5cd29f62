package dev.flotilla.launch;

import java.time.Instant;

/**
 * Tells what came before what on this host, in whichever of its processes.
 *
 * <p>The time of day is set, and jumps; what the kernel counts since the host was started does not,
 * and is the same for all processes. Instants of this clock are near the time of day at which this
 * process began to use it.
 */
final class HostClock {

  @SuppressWarnings("TimeInStaticInitializer") // where this process begins to count
  private static final Instant ORIGIN = Instant.now().minusNanos(System.nanoTime());

  private HostClock() {}

  static Instant now() {
    return at(System.nanoTime());
  }

  /** Returns the instant at which {@link System#nanoTime} gave this number in any process. */
  static Instant at(long nanos) {
    return ORIGIN.plusNanos(nanos);
  }
}
