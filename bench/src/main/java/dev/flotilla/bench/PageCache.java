package dev.flotilla.bench;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** What the system keeps of files in main memory. */
final class PageCache {

  private static final int DONT_NEED = 4;

  private static final MethodHandle OPEN =
      function("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
  private static final MethodHandle ADVISE =
      function(
          "posix_fadvise",
          FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
  private static final MethodHandle CLOSE =
      function("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

  private PageCache() {}

  private static MethodHandle function(String name, FunctionDescriptor descriptor) {
    var linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor);
  }

  /** Lets the next read of a file come from the disk; what is not written out yet stays. */
  static void forget(Path file) {
    try (var arena = Arena.ofConfined()) {
      int descriptor = (int) OPEN.invokeExact(arena.allocateFrom(file.toString()), 0);
      int code = (int) ADVISE.invokeExact(descriptor, 0L, 0L, DONT_NEED);
      int closed = (int) CLOSE.invokeExact(descriptor);
      if (code != 0 || closed != 0) {
        throw new IllegalStateException("posix_fadvise failed for " + file + ": " + code);
      }
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }
}
