package dev.flotilla.memory;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.invoke.MethodHandle;

/**
 * Reads how much memory native code holds: what the C library counts and, where libtorch has an
 * allocator of its own, what {@link TensorBytes} counts.
 */
public final class NativeMemory {

  // The fields of mallinfo: bytes in mapped regions, and bytes in use in the arenas.
  private static final int MAPPED_BYTES = 4;
  private static final int USED_BYTES = 7;
  private static final int FIELDS = 10;

  /** glibc before 2.33 has the older function alone, whose fields are of 32 bits. */
  private static final boolean IS_WIDE = find("mallinfo2");

  private static final MethodHandle MALLINFO =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow(IS_WIDE ? "mallinfo2" : "mallinfo"),
              FunctionDescriptor.of(
                  MemoryLayout.structLayout(
                      MemoryLayout.sequenceLayout(FIELDS, IS_WIDE ? JAVA_LONG : JAVA_INT))));

  private NativeMemory() {}

  /** Returns the bytes of live tensors on a device; for main memory, of all native code. */
  public static long liveBytes(ComputeDevice device) {
    return device.isCuda() ? new DeviceMemory(device).liveBytes() : liveBytes();
  }

  /** Returns the bytes that native code has taken and not given back. */
  public static long liveBytes() {
    try (var arena = Arena.ofConfined()) {
      var info = (MemorySegment) MALLINFO.invokeExact((SegmentAllocator) arena);
      return field(info, MAPPED_BYTES) + field(info, USED_BYTES) + TensorBytes.live();
    } catch (Throwable e) {
      throw new IllegalStateException("cannot read the state of malloc", e);
    }
  }

  private static long field(MemorySegment info, int index) {
    return IS_WIDE
        ? info.getAtIndex(JAVA_LONG, index)
        : Integer.toUnsignedLong(info.getAtIndex(JAVA_INT, index));
  }

  private static boolean find(String function) {
    return Linker.nativeLinker().defaultLookup().find(function).isPresent();
  }
}
