package dev.flotilla.memory;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.invoke.MethodHandle;

/** Reads how much memory native code holds, as the C library counts it. */
public final class NativeMemory {

  // The fields of mallinfo2: bytes in mapped regions, and bytes in use in the arenas.
  private static final int MAPPED_BYTES = 4;
  private static final int USED_BYTES = 7;
  private static final MemoryLayout FIELDS =
      MemoryLayout.structLayout(MemoryLayout.sequenceLayout(10, JAVA_LONG));
  private static final MethodHandle MALLINFO2 =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("mallinfo2"),
              FunctionDescriptor.of(FIELDS));

  private NativeMemory() {}

  /** Returns the bytes of live tensors on a device; for main memory, of all native code. */
  public static long liveBytes(ComputeDevice device) {
    return device.isCuda() ? new DeviceMemory(device).liveBytes() : liveBytes();
  }

  /** Returns the bytes that native code has taken and not given back. */
  public static long liveBytes() {
    try (var arena = Arena.ofConfined()) {
      var info = (MemorySegment) MALLINFO2.invokeExact((SegmentAllocator) arena);
      return info.getAtIndex(JAVA_LONG, MAPPED_BYTES) + info.getAtIndex(JAVA_LONG, USED_BYTES);
    } catch (Throwable e) {
      throw new IllegalStateException("cannot read the state of malloc", e);
    }
  }
}
