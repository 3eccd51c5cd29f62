package dev.flotilla.collective;

import java.time.Duration;
import java.util.Optional;
import org.bytedeco.pytorch.Tensor;

/**
 * One collective operation, for messages.
 *
 * @param name what it does, for example "all-reduce"
 * @param detail what else all ranks must have in common, for example "SUM"; may be empty
 * @param bytes size of this rank's tensor
 * @param type type of its elements
 * @param timeout how long it may go without progress
 * @param startNanos when it was started
 */
record Operation(
    String name, String detail, long bytes, String type, Duration timeout, long startNanos) {

  static Operation starting(String name, Tensor tensor, Duration timeout) {
    long bytes = TensorChecks.bytes(tensor);
    return new Operation(name, "", bytes, TensorChecks.type(tensor), timeout, System.nanoTime());
  }

  /** Returns an operation that moves nothing. */
  static Operation starting(String name, Duration timeout) {
    return new Operation(name, "", 0, "none", timeout, System.nanoTime());
  }

  /** Returns this operation with what else all ranks must have in common. */
  Operation with(String common) {
    return new Operation(name, common, bytes, type, timeout, startNanos);
  }

  /** Returns all that must be the same on all ranks: "all-reduce SUM of 4096 bytes of float". */
  String signature() {
    var what = detail.isEmpty() ? name : name + " " + detail;
    return bytes == 0 ? what : "%s of %d bytes of %s".formatted(what, bytes, type);
  }

  Duration elapsed() {
    return Duration.ofNanos(System.nanoTime() - startNanos);
  }

  /** Returns "all-reduce of 4096 bytes". */
  @Override
  public String toString() {
    return bytes == 0 ? name : "%s of %d bytes".formatted(name, bytes);
  }

  /**
   * Returns the failure of this operation as the user reads it.
   *
   * @param culprit what the launcher says about the rank that failed first
   */
  CollectiveException failed(Roster roster, Optional<String> culprit, RuntimeException cause) {
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
                culprit.orElseGet(() -> roster.suspects(nativeText))),
        cause);
  }
}
