package dev.flotilla.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Measures the most memory that a stretch of work takes: live tensors on a device, or the resident
 * size of the process where tensors live in main memory.
 */
public final class PeakMeter {

  private static final Path CLEAR = Path.of("/proc/self/clear_refs");
  private static final String CLEAR_PEAK = "5";

  private final ComputeDevice device;

  /** Creates the meter of a device. */
  public PeakMeter(ComputeDevice device) {
    this.device = device;
  }

  /** Forgets what was, so that the peak counts from now on. */
  public void restart() {
    if (device.isCuda()) {
      new DeviceMemory(device).forgetPeak();
      return;
    }
    try {
      Files.writeString(CLEAR, CLEAR_PEAK);
    } catch (IOException notLinux) {
      throw new java.io.UncheckedIOException("cannot measure peaks of memory here", notLinux);
    }
  }

  /** Returns the largest number of bytes since the last start. */
  public long peakBytes() {
    return device.isCuda()
        ? new DeviceMemory(device).peakBytes()
        : ProcessMemory.peakResidentBytes();
  }
}
