package dev.flotilla.testkit;

import dev.flotilla.memory.NativeMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/**
 * Reads how much memory this process holds outside the Java heap, as the C library and the kernel
 * see it.
 *
 * <p>A leak test fixes and pre-touches the heap and sets {@code MALLOC_ARENA_MAX=1}: live bytes
 * count all of the process then, and the heap does not grow between two readings.
 */
public final class LeakProbe {

  private LeakProbe() {}

  /** Returns the bytes that native code has taken and not given back. */
  public static long liveBytes() {
    return NativeMemory.liveBytes();
  }

  /**
   * Returns the least of the live bytes over two seconds: the compilers of the virtual machine
   * borrow tens of megabytes at a time, a leak stays.
   */
  public static long settledBytes() {
    long least = liveBytes();
    for (int i = 0; i < 40; i++) {
      LockSupport.parkNanos(50_000_000);
      least = Math.min(least, liveBytes());
    }
    return least;
  }

  /** Returns the resident size of this process. */
  public static long residentBytes() {
    return status("VmRSS:");
  }

  /** Returns the largest resident size since the start or the last reset. */
  public static long peakResidentBytes() {
    return status("VmHWM:");
  }

  /** Makes the peak start again at the present resident size. */
  public static void resetPeak() {
    try {
      Files.writeString(Path.of("/proc/self/clear_refs"), "5");
    } catch (IOException e) {
      throw new UncheckedIOException("cannot reset the peak resident size", e);
    }
  }

  private static long status(String field) {
    try (var lines = Files.lines(Path.of("/proc/self/status"))) {
      var line = lines.filter(text -> text.startsWith(field)).findFirst().orElseThrow();
      return 1024 * Long.parseLong(line.replaceAll("[^0-9]", ""));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the state of this process", e);
    }
  }
}
