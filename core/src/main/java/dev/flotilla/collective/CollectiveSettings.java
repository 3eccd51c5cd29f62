package dev.flotilla.collective;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import java.time.Duration;

/**
 * How long ranks wait for each other.
 *
 * @param timeout how long an operation may go without progress before its group has failed
 * @param joinTimeout how long a rank waits at the meeting point for the others
 * @param threads native threads that carry out operations, and so how many run at once
 * @param backend what carries tensors that lie on GPUs
 */
public record CollectiveSettings(
    @Setting(
            doc = "longest wait for other ranks in a collective, in seconds or with a unit",
            def = "60s")
        Duration timeout,
    @Setting(
            doc = "longest wait for all ranks at the start, in seconds or with a unit",
            def = "60s")
        Duration joinTimeout,
    @Setting(doc = "collectives of one rank that may run at the same time", def = "4") int threads,
    @Setting(doc = "what carries tensors between GPUs: auto, gloo or nccl", def = "auto")
        GpuBackend backend) {

  /** Checks all values. */
  public CollectiveSettings {
    Check.that(isLongEnough(timeout), "timeout", "must be at least 1 ms", timeout)
        .and(isLongEnough(joinTimeout), "join_timeout", "must be at least 1 ms", joinTimeout)
        .and(threads >= 1 && threads <= 64, "threads", "must be in [1, 64]", threads)
        .orThrow();
  }

  /** Returns one minute for everything, four threads, and NCCL where it can be had. */
  public static CollectiveSettings defaults() {
    return new CollectiveSettings(Duration.ofMinutes(1), Duration.ofMinutes(1), 4, GpuBackend.AUTO);
  }

  /** Returns these settings with another timeout per operation. */
  public CollectiveSettings withTimeout(Duration other) {
    return new CollectiveSettings(other, joinTimeout, threads, backend);
  }

  /** Returns these settings with another wait at the meeting point. */
  public CollectiveSettings withJoinTimeout(Duration other) {
    return new CollectiveSettings(timeout, other, threads, backend);
  }

  /** Returns these settings with another backend for GPUs. */
  public CollectiveSettings withBackend(GpuBackend other) {
    return new CollectiveSettings(timeout, joinTimeout, threads, other);
  }

  private static boolean isLongEnough(Duration duration) {
    return duration.toMillis() >= 1;
  }
}
