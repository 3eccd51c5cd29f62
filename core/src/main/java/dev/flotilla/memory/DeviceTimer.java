package dev.flotilla.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Times what a CUDA device does, apart from how quickly the host hands it over: the device pauses
 * until all work is there.
 */
public final class DeviceTimer {

  private static final int WITH_TIME = 0;

  /** Nothing that is timed takes the host longer, unless the host itself is held up. */
  private static final long LONGEST_PAUSE = 200_000_000;

  private static final Map<ComputeDevice, Optional<GpuKernel>> PAUSES = new ConcurrentHashMap<>();

  private DeviceTimer() {}

  /**
   * Returns how long a device works at what the host starts there, in seconds; where the host has
   * no NVRTC, or is held up, with the time that the device waits for it.
   *
   * @param work started twice or more, the first time to make things ready
   */
  public static double seconds(ComputeDevice device, Runnable work) {
    work.run();
    device.synchronize();
    long pause = 2 * nanos(work);
    device.synchronize();
    double seconds;
    boolean isHandedOver;
    do {
      pause = Math.min(2 * pause, LONGEST_PAUSE);
      var begin = event();
      var end = event();
      try {
        pause(device, pause);
        driver().call("cuEventRecord", begin, MemorySegment.NULL);
        isHandedOver = nanos(work) < pause;
        driver().call("cuEventRecord", end, MemorySegment.NULL);
        seconds = between(begin, end);
      } finally {
        driver().call("cuEventDestroy_v2", begin);
        driver().call("cuEventDestroy_v2", end);
      }
    } while (!isHandedOver && pause < LONGEST_PAUSE);
    return seconds;
  }

  private static long nanos(Runnable work) {
    long start = System.nanoTime();
    work.run();
    return System.nanoTime() - start;
  }

  private static void pause(ComputeDevice device, long nanos) {
    PAUSES
        .computeIfAbsent(device, DeviceTimer::compile)
        .ifPresent(kernel -> kernel.launch(1, 1, nanos));
  }

  private static Optional<GpuKernel> compile(ComputeDevice device) {
    String source = "pause.cu";
    var text = DeviceTimer.class.getResourceAsStream(source);
    return GpuKernel.compile(device, source, text, List.of(), List.of("pause"))
        .map(kernels -> kernels.get("pause"));
  }

  private static MemorySegment event() {
    try (var arena = Arena.ofConfined()) {
      var holder = arena.allocate(ADDRESS);
      driver().call("cuEventCreate", holder, WITH_TIME);
      return holder.get(ADDRESS, 0);
    }
  }

  private static double between(MemorySegment begin, MemorySegment end) {
    driver().call("cuEventSynchronize", end);
    try (var arena = Arena.ofConfined()) {
      var milliseconds = arena.allocate(JAVA_FLOAT);
      driver().call("cuEventElapsedTime", milliseconds, begin, end);
      return milliseconds.get(JAVA_FLOAT, 0) / 1e3;
    }
  }

  private static NativeLibrary driver() {
    return NativeLibrary.find("libcuda.so.1").orElseThrow();
  }
}
