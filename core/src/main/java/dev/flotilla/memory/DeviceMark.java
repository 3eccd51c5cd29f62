package dev.flotilla.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.LongAdder;

/**
 * A place in the order of what was started on a device, to be waited for later; in main memory
 * everything is done when it is started.
 *
 * <p>Not thread-safe.
 */
public final class DeviceMark implements AutoCloseable {

  /** A mark need not tell the time. */
  private static final int WITHOUT_TIME = 2;

  private static final LongAdder WAITED = new LongAdder();

  private final ComputeDevice device;
  private MemorySegment event = MemorySegment.NULL;

  /** Makes a mark for a device; nothing is created before the first {@link #set}. */
  public DeviceMark(ComputeDevice device) {
    this.device = device;
  }

  /** Marks what was started so far, in place of what was marked before. */
  public void set() {
    // Everything runs on the default stream here.
    set(MemorySegment.NULL);
  }

  /** Marks what was started so far on a stream. */
  void set(MemorySegment stream) {
    if (!device.isCuda()) {
      return;
    }
    device.makeCurrent();
    if (event.equals(MemorySegment.NULL)) {
      try (var arena = Arena.ofConfined()) {
        var holder = arena.allocate(ADDRESS);
        driver().call("cuEventCreate", holder, WITHOUT_TIME);
        event = holder.get(ADDRESS, 0);
      }
    }
    driver().call("cuEventRecord", event, stream);
  }

  /** Lets what is started from now on wait for what is marked; the host goes on. */
  public void holdBack() {
    holdBack(MemorySegment.NULL);
  }

  /** Lets what is started on a stream from now on wait for what is marked. */
  void holdBack(MemorySegment stream) {
    if (!event.equals(MemorySegment.NULL)) {
      device.makeCurrent();
      driver().call("cuStreamWaitEvent", stream, event, 0);
    }
  }

  /** Waits until what is marked is done. */
  public void await() {
    if (!event.equals(MemorySegment.NULL)) {
      device.makeCurrent();
      long start = System.nanoTime();
      driver().call("cuEventSynchronize", event);
      WAITED.add(System.nanoTime() - start);
    }
  }

  /** Returns for how long this process has waited for marks, in nanoseconds. */
  public static long waitedNanos() {
    return WAITED.sum();
  }

  private static NativeLibrary driver() {
    return NativeLibrary.find("libcuda.so.1").orElseThrow();
  }

  @Override
  public void close() {
    if (!event.equals(MemorySegment.NULL)) {
      device.makeCurrent();
      driver().call("cuEventDestroy_v2", event);
      event = MemorySegment.NULL;
    }
  }
}
