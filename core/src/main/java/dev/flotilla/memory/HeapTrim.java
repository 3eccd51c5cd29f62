package dev.flotilla.memory;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * Gives free memory of the C library's heap back to the system, after a process's updates 1, 2, 4,
 * 8 and so on.
 *
 * <p>In its first updates a process allocates much that stays: code that is compiled, handles, what
 * carries messages. Some of it lands in room that a large tensor has left, which is too small for
 * the next one then. Such room stays resident, and how much of it there is depends on chance.
 *
 * <p>Pages that are needed again come one by one, which takes time; so each time twice as many
 * updates go by.
 */
public final class HeapTrim {

  /** Other C libraries do without. */
  private static final Optional<MethodHandle> TRIM =
      Linker.nativeLinker()
          .defaultLookup()
          .find("malloc_trim")
          .map(
              it ->
                  Linker.nativeLinker()
                      .downcallHandle(it, FunctionDescriptor.of(JAVA_INT, JAVA_LONG)));

  private final boolean isOnHost;
  private long updates;

  /** Counts updates from here on; those of a GPU leave little in main memory. */
  public HeapTrim(ComputeDevice device) {
    isOnHost = !device.isCuda();
  }

  /** Counts an update. */
  public void afterUpdate() {
    updates++;
    if (isOnHost && isDue(updates)) {
      giveBack();
    }
  }

  static boolean isDue(long updates) {
    return Long.bitCount(updates) == 1;
  }

  /** Gives back whole pages that lie in no block, at the heap's end and inside it. */
  static void giveBack() {
    if (TRIM.isPresent()) {
      try {
        int _ = (int) TRIM.get().invokeExact(0L);
      } catch (Throwable e) {
        throw new IllegalStateException("cannot call malloc_trim", e);
      }
    }
  }
}
