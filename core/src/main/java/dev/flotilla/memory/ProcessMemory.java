package dev.flotilla.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads this process's memory from the operating system. */
public final class ProcessMemory {

  private static final Path STATUS = Path.of("/proc/self/status");

  private ProcessMemory() {}

  /** Returns the largest resident size so far in bytes, or 0 where the system does not tell. */
  public static long peakResidentBytes() {
    return read(STATUS, "VmHWM:");
  }

  /** Returns the resident size in bytes, or 0 where the system does not tell. */
  public static long residentBytes() {
    return read(STATUS, "VmRSS:");
  }

  /** Returns what the host could still give to processes, or 0 where the system does not tell. */
  public static long availableBytes() {
    return read(Path.of("/proc/meminfo"), "MemAvailable:");
  }

  private static long read(Path file, String field) {
    try (var lines = Files.lines(file)) {
      return lines
          .filter(line -> line.startsWith(field))
          .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("\\D", "")))
          .findFirst()
          .orElse(0);
    } catch (IOException notLinux) {
      return 0;
    }
  }
}
