package dev.flotilla.collective;

import java.time.Duration;

/**
 * One collective operation, for messages.
 *
 * @param name what it does, for example "all-reduce"
 * @param bytes size of this rank's tensor
 * @param timeout how long it may go without progress
 * @param startNanos when it was started
 */
record Operation(String name, long bytes, Duration timeout, long startNanos) {

  static Operation starting(String name, long bytes, Duration timeout) {
    return new Operation(name, bytes, timeout, System.nanoTime());
  }

  Duration elapsed() {
    return Duration.ofNanos(System.nanoTime() - startNanos);
  }

  /** Returns "all-reduce of 4096 bytes". */
  @Override
  public String toString() {
    return bytes == 0 ? name : "%s of %d bytes".formatted(name, bytes);
  }

  /** Returns the failure of this operation as the user reads it. */
  CollectiveException failed(Roster roster, RuntimeException cause) {
    var nativeText = NativeText.firstLine(cause);
    return new CollectiveException(
        "%s: %s over %d ranks failed after %s (timeout %s): %s; %s"
            .formatted(
                roster.self(),
                this,
                roster.size(),
                Deadline.seconds(elapsed()),
                Deadline.seconds(timeout),
                nativeText,
                roster.suspects(nativeText)),
        cause);
  }
}
