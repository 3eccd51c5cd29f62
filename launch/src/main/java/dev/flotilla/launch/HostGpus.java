package dev.flotilla.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The GPUs of this host, as the driver lists them; no CUDA library is touched.
 *
 * @param count how many there are; 0 without a driver
 */
record HostGpus(int count) {

  private static final Path LISTED = Path.of("/proc/driver/nvidia/gpus");
  private static final String VISIBLE = "CUDA_VISIBLE_DEVICES";

  static HostGpus here(Map<String, String> environment) {
    return in(LISTED, environment);
  }

  static HostGpus in(Path listed, Map<String, String> environment) {
    var visible = environment.get(VISIBLE);
    int count = entries(listed);
    return new HostGpus(visible == null ? count : Math.min(count, entries(visible)));
  }

  private static int entries(String visible) {
    return visible.isBlank() ? 0 : visible.split(",", -1).length;
  }

  private static int entries(Path listed) {
    if (!Files.isDirectory(listed)) {
      return 0;
    }
    try (var entries = Files.list(listed)) {
      return Math.toIntExact(entries.count());
    } catch (IOException unreadable) {
      return 0;
    }
  }

  /** Returns what is wrong with a choice of GPUs; the empty text if nothing is. */
  String problemWith(List<Integer> wanted) {
    if (count == 0) {
      return "this host has no NVIDIA GPU that its driver lists; leave it out to run on the CPU";
    }
    return wanted.stream().allMatch(gpu -> gpu < count)
        ? ""
        : "this host has %d GPU%s, numbered from 0".formatted(count, count == 1 ? "" : "s");
  }

  static String text(List<Integer> gpus) {
    return gpus.stream().map(String::valueOf).collect(Collectors.joining(","));
  }
}
