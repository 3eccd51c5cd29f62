package dev.flotilla.bench;

import java.time.Duration;

/** How long processors have worked for a process, to the hundredth of a second. */
final class ProcessorTime {

  private ProcessorTime() {}

  static double seconds(ProcessHandle process) {
    return process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos() / 1e9;
  }
}
