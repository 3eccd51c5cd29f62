package dev.flotilla.collective;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;

/** A function of the C library that returns a number, negative on failure. */
final class CFunction {

  private static final Linker LINKER = Linker.nativeLinker();
  private static final MemoryLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO = STATE.varHandle(PathElement.groupElement("errno"));

  private final String name;
  private final MethodHandle handle;

  private CFunction(String name, MethodHandle handle) {
    this.name = name;
    this.handle = handle;
  }

  static CFunction find(String name, MemoryLayout... parameters) {
    var address = LINKER.defaultLookup().findOrThrow(name);
    var descriptor = FunctionDescriptor.of(JAVA_INT, parameters);
    var errno = Linker.Option.captureCallState("errno");
    return new CFunction(name, LINKER.downcallHandle(address, descriptor, errno));
  }

  /**
   * Calls the function.
   *
   * @throws CError if it failed
   */
  int call(Object... arguments) {
    try (var arena = Arena.ofConfined()) {
      var state = arena.allocate(STATE);
      var all = new ArrayList<Object>(List.of(arguments));
      all.addFirst(state);
      int result = (int) handle.invokeWithArguments(all);
      if (result < 0) {
        throw new CError(name, (int) ERRNO.get(state, 0L));
      }
      return result;
    } catch (CError e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("cannot call " + name, e);
    }
  }

  /** Thrown when a function of the C library failed. */
  static final class CError extends RuntimeException {

    static final int ADDRESS_IN_USE = 98;
    static final int ADDRESS_NOT_AVAILABLE = 99;
    static final int PERMISSION_DENIED = 13;

    private final int number;

    CError(String function, int number) {
      super(function + " failed with error " + number);
      this.number = number;
    }

    int number() {
      return number;
    }
  }
}
