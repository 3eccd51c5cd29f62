package dev.flotilla.launch;

import dev.flotilla.world.ExitCodes;
import dev.flotilla.world.RankEnvironment;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Map;
import java.util.Optional;

/**
 * Ends this process when its launcher is gone.
 *
 * <p>Two means: on Linux the kernel kills this process with the launcher's thread that started it,
 * which works for a stopped process, too; and everywhere standard input, a pipe whose other end
 * only the launcher holds, reaches its end.
 */
final class LauncherWatch {

  private static final int PR_SET_PDEATHSIG = 1;

  private LauncherWatch() {}

  /** Starts watching where a launcher has left its process id; the program finds no input then. */
  static void start(Map<String, String> environment) {
    String launcher = environment.get(RankEnvironment.LAUNCHER_PID);
    if (launcher == null) {
      return;
    }
    if (System.getProperty("os.name").equals("Linux")) {
      dieWithParentThread();
    }
    if (!hasAncestor(launcher)) {
      end();
    }
    Thread.ofPlatform().daemon().name("flotilla-launcher-watch").start(LauncherWatch::watchInput);
    System.setIn(InputStream.nullInputStream());
  }

  /**
   * Must run on a thread that lives as long as the process: the kernel keeps the wish per thread.
   */
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

  /** A launcher that died before the kernel was asked shows as a parent that is another process. */
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

  private static void watchInput() {
    try (var input = new FileInputStream(FileDescriptor.in)) {
      while (input.read() >= 0) {
        // Nobody writes; only the end matters.
      }
    } catch (IOException e) {
      // As good as the end.
    }
    end();
  }

  private static void end() {
    Runtime.getRuntime().halt(ExitCodes.FAILED);
  }
}
