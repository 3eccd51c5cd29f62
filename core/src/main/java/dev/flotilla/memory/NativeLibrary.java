package dev.flotilla.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A library of the host whose functions take pointers, ints and longs, and return 0 when all went
 * well.
 */
final class NativeLibrary {

  private static final Map<String, Optional<NativeLibrary>> FOUND = new ConcurrentHashMap<>();

  private final SymbolLookup symbols;
  private final Map<String, MethodHandle> functions = new ConcurrentHashMap<>();

  private NativeLibrary(SymbolLookup symbols) {
    this.symbols = symbols;
  }

  /** Returns a library by its file name; nothing if the host has none. */
  static Optional<NativeLibrary> find(String name) {
    return FOUND.computeIfAbsent(name, NativeLibrary::load);
  }

  private static Optional<NativeLibrary> load(String name) {
    try {
      return Optional.of(new NativeLibrary(SymbolLookup.libraryLookup(name, Arena.global())));
    } catch (IllegalArgumentException notThere) {
      return Optional.empty();
    }
  }

  /**
   * Calls a function.
   *
   * @throws IllegalStateException if it does not return 0
   */
  void call(String function, Object... arguments) {
    int result = result(function, arguments);
    if (result != 0) {
      throw new IllegalStateException("%s failed with error %d".formatted(function, result));
    }
  }

  /** Calls a function that returns nothing. */
  void run(String function, Object... arguments) {
    int _ = result(function, arguments); // Whatever was in the register.
  }

  /** Calls a function and returns what it returns. */
  int result(String function, Object... arguments) {
    var handle = functions.computeIfAbsent(function, name -> handle(name, arguments));
    try {
      return (int) handle.invokeWithArguments(arguments);
    } catch (Throwable failure) {
      throw new IllegalStateException("cannot call " + function, failure);
    }
  }

  /** Returns a function for arguments like these, which a caller may keep and invoke exactly. */
  MethodHandle handle(String function, Object... arguments) {
    var layouts = Arrays.stream(arguments).map(NativeLibrary::layout).toArray(MemoryLayout[]::new);
    return Linker.nativeLinker()
        .downcallHandle(symbols.findOrThrow(function), FunctionDescriptor.of(JAVA_INT, layouts));
  }

  private static MemoryLayout layout(Object argument) {
    return switch (argument) {
      case MemorySegment _ -> ADDRESS;
      case Long _ -> JAVA_LONG;
      default -> JAVA_INT;
    };
  }
}
