package dev.flotilla.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads this process's memory from the operating system. */
public final class ProcessMemory {

  private static final Path STATUS = Path.of("/proc/self/status");
  private static final Path CGROUP = Path.of("/sys/fs/cgroup");
  private static final Pattern DATA_LIMIT = Pattern.compile("Max data size +(\\d{1,18}) ");

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

  /**
   * Returns what this process could still allocate: what the host has, or less where its control
   * group or a limit of its data (ulimit -d) ends it before; 0 where the system does not tell.
   */
  public static long roomBytes() {
    long room = availableBytes();
    long most = number(CGROUP.resolve("memory.max"));
    if (most > 0) {
      room = Math.min(room, most - number(CGROUP.resolve("memory.current")));
    }
    long data = dataLimit();
    return Math.max(0, data > 0 ? Math.min(room, data - read(STATUS, "VmData:")) : room);
  }

  /** Returns the number that a file holds, or 0 where it holds none. */
  private static long number(Path file) {
    try {
      var text = Files.readString(file).strip();
      return text.matches("\\d{1,18}") ? Long.parseLong(text) : 0;
    } catch (IOException none) {
      return 0;
    }
  }

  private static long dataLimit() {
    try (var lines = Files.lines(Path.of("/proc/self/limits"))) {
      return lines
          .map(DATA_LIMIT::matcher)
          .filter(Matcher::lookingAt)
          .mapToLong(limit -> Long.parseLong(limit.group(1)))
          .findFirst()
          .orElse(0);
    } catch (IOException notLinux) {
      return 0;
    }
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
