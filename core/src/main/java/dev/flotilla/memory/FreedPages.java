package dev.flotilla.memory;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.util.Map;

/**
 * Lets the C library keep the memory of freed tensors for the next step.
 *
 * <p>At first it maps blocks from 128 KiB on one by one, and gives back what lies free at the end
 * of a heap beyond that. Both limits grow with the largest mapped block that was freed, but a
 * thread other than the process's first has heaps of 64 MiB, and the last of them is given back
 * whenever all of it is free. A small model's step then begins with pages that the kernel has to
 * clear again.
 */
final class FreedPages {

  // M_TRIM_THRESHOLD, M_TOP_PAD and M_MMAP_THRESHOLD of malloc.h
  private static final int TRIM_THRESHOLD = -1;
  private static final int TOP_PAD = -2;
  private static final int MMAP_THRESHOLD = -3;

  /** What the limits grow to by themselves, at most. */
  private static final int LARGEST_IN_HEAP = 32 << 20;

  private static final int KEPT_PER_HEAP = 2 * LARGEST_IN_HEAP;

  private FreedPages() {}

  /** Keeps it from now on, unless the user or the launcher has told the C library what to do. */
  static void keep(Map<String, String> environment) {
    if (!isTold(environment)) {
      set(MMAP_THRESHOLD, LARGEST_IN_HEAP);
      set(TRIM_THRESHOLD, KEPT_PER_HEAP);
      set(TOP_PAD, KEPT_PER_HEAP); // a heap is kept where the one before has less room than this
    }
  }

  static boolean isTold(Map<String, String> environment) {
    return environment.keySet().stream().anyMatch(name -> name.startsWith("MALLOC_"))
        || environment.getOrDefault("GLIBC_TUNABLES", "").contains("glibc.malloc.");
  }

  private static void set(int parameter, int value) {
    var linker = Linker.nativeLinker();
    var mallopt =
        linker.downcallHandle(
            linker.defaultLookup().findOrThrow("mallopt"),
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    try {
      var _ = (int) mallopt.invokeExact(parameter, value);
    } catch (Throwable failure) {
      throw new IllegalStateException("cannot set up malloc", failure);
    }
  }
}
