package dev.flotilla.bench;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What a GPU does and when, kernel by kernel, and where the host waits for it: read through CUPTI,
 * which is a part of CUDA.
 */
final class GpuTrace implements AutoCloseable {

  /** What CUPTI calls kinds of activity. */
  enum Kind {
    COPY(1, 16),
    FILL(2, 16),
    KERNEL(10, 16),
    WAIT(38, 8);

    private final int number;
    private final long start;

    /** Takes CUPTI's number, and where a record has its two times. */
    Kind(int number, long start) {
      this.number = number;
      this.start = start;
    }
  }

  /**
   * Something that took time.
   *
   * @param name of a kernel; what else it is otherwise
   * @param start in nanoseconds
   */
  record Activity(Kind kind, String name, long start, long end) {

    long nanos() {
      return end - start;
    }
  }

  private static final int BUFFER = 8 << 20;
  private static final long NAME_OF_KERNEL = 104;
  private static final int LONGEST_NAME = 1 << 16;
  private static final int STREAM_WAITS_FOR_EVENT = 2;

  private final Arena arena = Arena.ofShared();
  private final SymbolLookup library = SymbolLookup.libraryLookup("libcupti.so.13", arena);
  private final Map<String, MethodHandle> functions = new ConcurrentHashMap<>();
  private final List<Activity> activities = new ArrayList<>();

  /** Starts to listen. */
  GpuTrace() {
    var requested = upcall("give", FunctionDescriptor.ofVoid(ADDRESS, ADDRESS, ADDRESS));
    var completed =
        upcall("take", FunctionDescriptor.ofVoid(ADDRESS, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG));
    call("cuptiActivityRegisterCallbacks", requested, completed);
    for (var kind : Kind.values()) {
      call("cuptiActivityEnable", kind.number);
    }
  }

  private MemorySegment upcall(String name, FunctionDescriptor shape) {
    try {
      var type = shape.toMethodType();
      var handle =
          MethodHandles.lookup()
              .bind(this, name, MethodType.methodType(void.class, type.parameterArray()));
      return Linker.nativeLinker().upcallStub(handle, shape, arena);
    } catch (ReflectiveOperationException impossible) {
      throw new IllegalStateException(name, impossible);
    }
  }

  private void call(String function, Object... arguments) {
    int result = result(function, arguments);
    if (result != 0) {
      throw new IllegalStateException(function + " failed with error " + result);
    }
  }

  private int result(String function, Object... arguments) {
    try {
      return (int)
          functions
              .computeIfAbsent(function, name -> handle(name, arguments))
              .invokeWithArguments(arguments);
    } catch (Throwable failure) {
      throw new IllegalStateException("cannot call " + function, failure);
    }
  }

  private MethodHandle handle(String function, Object... arguments) {
    var layouts = Arrays.stream(arguments).map(GpuTrace::layout).toArray(MemoryLayout[]::new);
    return Linker.nativeLinker()
        .downcallHandle(library.findOrThrow(function), FunctionDescriptor.of(JAVA_INT, layouts));
  }

  private static ValueLayout layout(Object argument) {
    return switch (argument) {
      case MemorySegment _ -> ADDRESS;
      case Long _ -> JAVA_LONG;
      default -> JAVA_INT;
    };
  }

  /** CUPTI asks for memory. */
  void give(MemorySegment buffer, MemorySegment size, MemorySegment most) {
    buffer.reinterpret(ADDRESS.byteSize()).set(ADDRESS, 0, arena.allocate(BUFFER, Long.BYTES));
    size.reinterpret(Long.BYTES).set(JAVA_LONG, 0, BUFFER);
    most.reinterpret(Long.BYTES).set(JAVA_LONG, 0, 0);
  }

  /** CUPTI has filled memory. */
  void take(MemorySegment context, int stream, MemorySegment buffer, long size, long valid) {
    try (var scratch = Arena.ofConfined()) {
      var record = scratch.allocate(ADDRESS);
      while (result("cuptiActivityGetNextRecord", buffer, valid, record) == 0) {
        add(record.get(ADDRESS, 0).reinterpret(NAME_OF_KERNEL + Long.BYTES));
      }
    }
  }

  private synchronized void add(MemorySegment record) {
    for (var kind : Kind.values()) {
      if (kind.number == record.get(JAVA_INT, 0) && !isOnDevice(kind, record)) {
        long start = record.get(JAVA_LONG, kind.start);
        long end = record.get(JAVA_LONG, kind.start + Long.BYTES);
        activities.add(new Activity(kind, name(kind, record), start, end));
      }
    }
  }

  /** A stream that waits for another does not let the host wait. */
  private static boolean isOnDevice(Kind kind, MemorySegment record) {
    return kind == Kind.WAIT && record.get(JAVA_INT, 4) == STREAM_WAITS_FOR_EVENT;
  }

  private static String name(Kind kind, MemorySegment record) {
    return kind == Kind.KERNEL
        ? record.get(ADDRESS, NAME_OF_KERNEL).reinterpret(LONGEST_NAME).getString(0)
        : kind.name();
  }

  /** Returns all that has ended since it began to listen, in the order of time. */
  List<Activity> activities() {
    call("cuptiActivityFlushAll", 1);
    synchronized (this) {
      return activities.stream().sorted(Comparator.comparingLong(Activity::start)).toList();
    }
  }

  /** Ends listening; CUPTI may still hold memory, which stays. */
  @Override
  public void close() {
    for (var kind : Kind.values()) {
      call("cuptiActivityDisable", kind.number);
    }
  }
}
