package dev.flotilla.memory;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.bytedeco.pytorch.global.torch_cuda;

/**
 * What libtorch's allocator holds on a device, and what the device has; all zeros for main memory,
 * whose use {@link ProcessMemory} tells.
 */
public final class DeviceMemory {

  /** What the driver and libtorch's libraries take beside the allocator, at least. */
  private static final long CONTEXT = 600L << 20;

  /** The largest numbers of live and reserved bytes before the allocator began to count anew. */
  private static final Map<ComputeDevice, Peaks> EARLIER = new ConcurrentHashMap<>();

  private final ComputeDevice device;

  private record Peaks(long live, long reserved) {

    static final Peaks NONE = new Peaks(0, 0);
  }

  /** Creates the view of a device. */
  public DeviceMemory(ComputeDevice device) {
    this.device = device;
  }

  /** Returns the bytes of all live tensors. */
  public long liveBytes() {
    return read(false);
  }

  /** Returns the largest number of live bytes since the start or the last {@link #forgetPeak}. */
  public long peakBytes() {
    return read(true);
  }

  private long read(boolean peak) {
    if (!device.isCuda()) {
      return 0;
    }
    try (var _ = TensorScope.open()) {
      var bytes = torch_cuda.getAllocator().getDeviceStats((byte) device.index()).allocated_bytes();
      return peak ? Math.max(bytes.peak(), earlier().live()) : bytes.current();
    }
  }

  private Peaks earlier() {
    return EARLIER.getOrDefault(device, Peaks.NONE);
  }

  /** Runs an action, and returns how many bytes it had alive at most beside those of before. */
  public long peakBytesOf(Runnable action) {
    long before = liveBytes();
    var peaks = new Peaks(peakBytes(), peakReservedBytes());
    forgetPeak();
    try {
      action.run();
      return peakBytes() - before;
    } finally {
      if (device.isCuda()) {
        EARLIER.put(device, peaks);
      }
    }
  }

  /** Returns the largest number of bytes that the allocator has taken from the device. */
  public long peakReservedBytes() {
    if (!device.isCuda()) {
      return 0;
    }
    try (var _ = TensorScope.open()) {
      var stats = torch_cuda.getAllocator().getDeviceStats((byte) device.index());
      return Math.max(stats.reserved_bytes().peak(), earlier().reserved());
    }
  }

  /**
   * Returns how often the allocator has found no room in one piece, and has waited for the device
   * to give back what nobody uses.
   */
  public long retries() {
    if (!device.isCuda()) {
      return 0;
    }
    try (var _ = TensorScope.open()) {
      return torch_cuda.getAllocator().getDeviceStats((byte) device.index()).num_alloc_retries();
    }
  }

  /** Counts the peak anew, from what is alive now. */
  public void forgetPeak() {
    if (device.isCuda()) {
      EARLIER.remove(device);
      torch_cuda.getAllocator().resetPeakStats((byte) device.index());
    }
  }

  /** Returns the bytes that the allocator may still take from the device. */
  public long roomBytes() {
    if (!device.isCuda()) {
      return 0;
    }
    try (var _ = TensorScope.open()) {
      var stats = torch_cuda.getAllocator().getDeviceStats((byte) device.index());
      return Math.min(freeBytes(), limitBytes() - stats.reserved_bytes().current());
    }
  }

  /** Returns the bytes of the device that nobody has taken. */
  public long freeBytes() {
    if (!device.isCuda()) {
      return 0;
    }
    try (var _ = TensorScope.open()) {
      return torch_cuda.getAllocator().getMemoryInfo((byte) device.index()).first();
    }
  }

  /** Returns the bytes that the device has. */
  public long totalBytes() {
    if (!device.isCuda()) {
      return 0;
    }
    try (var _ = TensorScope.open()) {
      return torch_cuda.getAllocator().getMemoryInfo((byte) device.index()).second();
    }
  }

  /** Returns the bytes that libtorch's allocator may take. */
  public long limitBytes() {
    return device.isCuda()
        ? (long) (totalBytes() * torch_cuda.getMemoryFraction((byte) device.index()))
        : 0;
  }

  /** Lets libtorch's allocator take no more than so many bytes. */
  public void limit(long bytes) {
    if (device.isCuda()) {
      double fraction = Math.min(1, bytes / (double) totalBytes());
      torch_cuda.getAllocator().setMemoryFraction(fraction, (byte) device.index());
    }
  }

  /** Gives back to the device what the allocator keeps for later. */
  public void release() {
    if (device.isCuda()) {
      torch_cuda.getAllocator().emptyCache();
    }
  }

  /** Returns what is left of a card's memory for the allocator. */
  public static long besideContext(long cardBytes) {
    return Math.max(0, cardBytes - CONTEXT);
  }
}
