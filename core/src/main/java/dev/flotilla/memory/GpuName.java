package dev.flotilla.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.HexFormat;

/** Asks the driver for the name of a GPU that no other one has, on any host. */
final class GpuName {

  private static final int LENGTH = 16;

  private GpuName() {}

  /** Returns the name of a GPU as this process numbers them; libtorch has used it before. */
  static String of(int index) {
    try (var arena = Arena.ofConfined()) {
      var driver = SymbolLookup.libraryLookup("libcuda.so.1", arena);
      var handle = arena.allocate(JAVA_INT);
      var uuid = arena.allocate(LENGTH);
      call(driver, "cuDeviceGet", handle, index);
      call(driver, "cuDeviceGetUuid_v2", uuid, handle.get(JAVA_INT, 0));
      return "GPU-" + HexFormat.of().formatHex(uuid.toArray(JAVA_BYTE));
    }
  }

  private static void call(SymbolLookup driver, String function, MemorySegment answer, int number) {
    var descriptor = FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT);
    var handle = Linker.nativeLinker().downcallHandle(driver.findOrThrow(function), descriptor);
    int result;
    try {
      result = (int) handle.invokeExact(answer, number);
    } catch (Throwable failure) {
      throw new IllegalStateException("cannot call " + function, failure);
    }
    if (result != 0) {
      throw new IllegalStateException(
          "the driver knows no GPU %d (%s answers %d)".formatted(number, function, result));
    }
  }
}
