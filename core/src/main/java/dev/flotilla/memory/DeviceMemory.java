package dev.flotilla.memory;

import org.bytedeco.pytorch.global.torch_cuda;

/**
 * What libtorch's allocator holds on a device, and what the device has; all zeros for main memory,
 * whose use {@link ProcessMemory} tells.
 */
public final class DeviceMemory {

  /** What the driver and libtorch's libraries take beside the allocator, at least. */
  private static final long CONTEXT = 600L << 20;

  private final ComputeDevice device;

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
      return peak ? bytes.peak() : bytes.current();
    }
  }

  /** Returns the largest number of bytes that the allocator has taken from the device. */
  public long peakReservedBytes() {
    if (!device.isCuda()) {
      return 0;
    }
    try (var _ = TensorScope.open()) {
      return torch_cuda
          .getAllocator()
          .getDeviceStats((byte) device.index())
          .reserved_bytes()
          .peak();
    }
  }

  /** Counts the peak anew, from what is alive now. */
  public void forgetPeak() {
    if (device.isCuda()) {
      torch_cuda.getAllocator().resetPeakStats((byte) device.index());
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
