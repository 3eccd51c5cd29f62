package dev.flotilla.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;

/** Sets variables that native libraries read when they are loaded. */
public final class Environment {

  private Environment() {}

  /** Sets a variable of this process for native code, unless the user has. */
  public static void setIfAbsent(String name, String value) {
    if (System.getenv(name) == null) {
      set(name, value);
    }
  }

  /** Sets a variable of this process for native code, whatever it was. */
  public static void set(String name, String value) {
    var linker = Linker.nativeLinker();
    var setenv =
        linker.downcallHandle(
            linker.defaultLookup().findOrThrow("setenv"),
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
    try (var arena = Arena.ofConfined()) {
      var _ = (int) setenv.invokeExact(arena.allocateFrom(name), arena.allocateFrom(value), 1);
    } catch (Throwable failure) {
      throw new IllegalStateException("cannot set " + name, failure);
    }
  }
}
