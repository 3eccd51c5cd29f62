package dev.flotilla.launch;

import dev.flotilla.world.ExitCodes;
import dev.flotilla.world.RankEnvironment;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Ends this process when its launcher is gone.
 *
 * <p>Two means: on Linux the kernel kills this process with the launcher's thread that started it,
 * which works for a stopped process, too; and everywhere this process looks whether the launcher is
 * still among its ancestors. It looks from time to time rather than wait for the end of a pipe, as
 * a JVM with a thread in a blocking read takes 0.3 s longer to exit.
 */
final class LauncherWatch {

  private static final int PR_SET_PDEATHSIG = 1;
  private static final Duration INTERVAL = Duration.ofMillis(250);

  private LauncherWatch() {}

  /**
   * Starts watching where a launcher has left its process id.
   *
   * <p>Must run on a thread that lives as long as the process, such as the main thread: the kernel
   * keeps the wish to die per thread.
   */
  static void start(Map<String, String> environment) {
    String launcher = environment.get(RankEnvironment.LAUNCHER_PID);
    if (launcher == null) {
      return;
    }
    if (System.getProperty("os.name").equals("Linux")) {
      dieWithParentThread();
    }
    Thread.ofPlatform().daemon().name("flotilla-launcher-watch").start(() -> endWithout(launcher));
  }

  /**
   * Ends a launcher, and its ranks with it, when the program that has started it is gone.
   *
   * <p>The kernel is not asked: it would look at the thread that started the launcher, which in a
   * program of others may end at any time.
   */
  static void ofParent(Map<String, String> environment) {
    String parent = environment.get(RankEnvironment.PARENT_PID);
    if (parent != null) {
      Thread.ofPlatform().daemon().name("flotilla-parent-watch").start(() -> endWithout(parent));
    }
  }

  private static void dieWithParentThread() {
    Linker linker = Linker.nativeLinker();
    var descriptor =
        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG);
    try {
      MethodHandle prctl =
          linker.downcallHandle(
              linker.defaultLookup().findOrThrow("prctl"),
              descriptor,
              Linker.Option.firstVariadicArg(1));
      int result = (int) prctl.invokeExact(PR_SET_PDEATHSIG, (long) Signals.KILL);
      if (result != 0) {
        warn("prctl refused");
      }
    } catch (Throwable e) {
      warn(e.toString());
    }
  }

  private static void warn(String why) {
    System.err.println("flotilla: the kernel will not end this rank with its launcher: " + why);
  }

  /** Looks at once, too: the launcher may have died before the kernel was asked. */
  private static void endWithout(String launcher) {
    try {
      while (hasAncestor(launcher)) {
        Thread.sleep(INTERVAL);
      }
    } catch (InterruptedException e) {
      // Nobody interrupts this thread but to end it, and a rank unwatched must not live on.
    }
    Runtime.getRuntime().halt(ExitCodes.FAILED);
  }

  private static boolean hasAncestor(String pid) {
    Optional<ProcessHandle> ancestor = ProcessHandle.current().parent();
    while (ancestor.isPresent()) {
      if (Long.toString(ancestor.get().pid()).equals(pid)) {
        return true;
      }
      ancestor = ancestor.get().parent();
    }
    return false;
  }
}
