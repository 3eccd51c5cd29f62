package dev.flotilla.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Memory of the C library for data that is no tensor yet: it needs no libtorch, and what Java
 * itself takes outside the heap may not exceed the heap.
 */
public final class PlainMemory {

  private static final MethodHandle MALLOC =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("malloc"),
              FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));

  private static final MethodHandle FREE =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("free"),
              FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));

  private PlainMemory() {}

  /**
   * Takes memory without defined content, which is freed with the arena.
   *
   * @throws OutOfMemoryError if there is none
   */
  public static MemorySegment allocate(long bytes, Arena arena) {
    return call(bytes).reinterpret(bytes, arena, PlainMemory::free);
  }

  private static MemorySegment call(long bytes) {
    MemorySegment memory;
    try {
      memory = (MemorySegment) MALLOC.invokeExact(bytes);
    } catch (Throwable e) {
      throw new IllegalStateException("cannot call malloc", e);
    }
    if (memory.address() == 0) {
      throw new OutOfMemoryError("no memory for another %,d bytes".formatted(bytes));
    }
    return memory;
  }

  private static void free(MemorySegment memory) {
    try {
      FREE.invokeExact(memory);
    } catch (Throwable e) {
      throw new IllegalStateException("cannot call free", e);
    }
  }
}
