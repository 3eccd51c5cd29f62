package dev.flotilla.testkit;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;

/** How Linux shares cores out among the threads of ranks. */
final class ThreadScheduling {

  private static final int SCHED_BATCH = 3;

  private ThreadScheduling() {}

  /**
   * Makes this thread, and those that it starts, wait for a core instead of taking one from a
   * thread that runs.
   *
   * <p>Gloo's own thread asks the kernel again and again while another holds the lock of a
   * connection. Where ranks are threads that outnumber the cores, it would take the core from just
   * that other thread, and spend half of all processor time so. Where Linux refuses, tests take
   * longer and that is all.
   */
  static void preemptNobody() {
    var linker = Linker.nativeLinker();
    var function =
        FunctionDescriptor.of(
            ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS);
    try (var arena = Arena.ofConfined()) {
      var setScheduler =
          linker.downcallHandle(linker.defaultLookup().findOrThrow("sched_setscheduler"), function);
      var priority = arena.allocateFrom(ValueLayout.JAVA_INT, 0);
      int _ = (int) setScheduler.invokeExact(0, SCHED_BATCH, priority);
    } catch (Throwable e) {
      throw new LinkageError("sched_setscheduler", e);
    }
  }
}
