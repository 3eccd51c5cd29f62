package dev.flotilla.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Work of a CUDA device that was recorded, and is started as a whole with one call: the same
 * kernels with the same memory and the same numbers from the host, but for the seeds of random
 * numbers. See {@link GraphRecorder}.
 */
public final class DeviceGraph implements AutoCloseable {

  private static final int KERNEL = 0;
  private static final int COPY = 1;
  private static final int FILL = 2;
  private static final int NOTHING = 5;

  /** Of the driver's description of a copy: its size, and where it says what lies where. */
  private static final long COPY_BYTES = 200;

  private static final long SOURCE = 32;
  private static final long TARGET = 120;
  private static final long ADDRESS_BEHIND = 16;
  private static final int ON_DEVICE = 2;
  private static final int UNIFIED = 4;
  private static final int MEMORY_TYPE = 2;

  private final ComputeDevice device;
  private final MemorySegment executable;
  private final MethodHandle launch;
  private final GraphMemory memory;
  private final GraphSeeds seeds;
  private final int kernels;

  private DeviceGraph(
      ComputeDevice device,
      MemorySegment executable,
      GraphMemory memory,
      GraphSeeds seeds,
      int kernels) {
    this.device = device;
    this.executable = executable;
    this.memory = memory;
    this.seeds = seeds;
    this.kernels = kernels;
    launch = driver().handle("cuGraphLaunch", MemorySegment.NULL, MemorySegment.NULL);
  }

  /**
   * Makes what can be started of the driver's graph, which is destroyed.
   *
   * @param memory what it works in; owned if all goes well
   * @param seeds what its random numbers depend on; owned likewise
   * @throws IllegalStateException if there is more in it than kernels, fills and copies inside the
   *     device: memory of the host may be gone when it is started again
   */
  static DeviceGraph of(
      ComputeDevice device, MemorySegment graph, GraphMemory memory, GraphSeeds seeds) {
    try (var arena = Arena.ofConfined()) {
      int kernels = requireRepeatable(graph, arena);
      var executable = arena.allocate(ADDRESS);
      driver().call("cuGraphInstantiateWithFlags", executable, graph, 0L);
      return new DeviceGraph(device, executable.get(ADDRESS, 0), memory, seeds, kernels);
    } finally {
      driver().call("cuGraphDestroy", graph);
    }
  }

  private static int requireRepeatable(MemorySegment graph, Arena arena) {
    var count = arena.allocate(JAVA_LONG);
    driver().call("cuGraphGetNodes", graph, MemorySegment.NULL, count);
    int nodes = Math.toIntExact(count.get(JAVA_LONG, 0));
    var all = arena.allocate(ADDRESS, Math.max(1, nodes));
    driver().call("cuGraphGetNodes", graph, all, count);
    int kernels = 0;
    for (int i = 0; i < nodes; i++) {
      var node = all.getAtIndex(ADDRESS, i);
      int kind = kind(node, arena);
      boolean isFine =
          switch (kind) {
            case KERNEL, FILL, NOTHING -> true;
            case COPY -> isInsideDevice(node, arena);
            default -> false;
          };
      if (!isFine) {
        throw new IllegalStateException(
            kind == COPY ? "it copies from or to main memory" : "it has a node of kind " + kind);
      }
      kernels += kind == KERNEL ? 1 : 0;
    }
    return kernels;
  }

  private static int kind(MemorySegment node, Arena arena) {
    var kind = arena.allocate(JAVA_INT);
    driver().call("cuGraphNodeGetType", node, kind);
    return kind.get(JAVA_INT, 0);
  }

  private static boolean isInsideDevice(MemorySegment node, Arena arena) {
    var copy = arena.allocate(COPY_BYTES, JAVA_LONG.byteAlignment());
    driver().call("cuGraphMemcpyNodeGetParams", node, copy);
    return isOnDevice(copy, SOURCE, arena) && isOnDevice(copy, TARGET, arena);
  }

  private static boolean isOnDevice(MemorySegment copy, long end, Arena arena) {
    int type = copy.get(JAVA_INT, end);
    if (type != UNIFIED) {
      return type == ON_DEVICE;
    }
    var found = arena.allocate(JAVA_INT);
    long address = copy.get(JAVA_LONG, end + ADDRESS_BEHIND);
    int result = driver().result("cuPointerGetAttribute", found, MEMORY_TYPE, address);
    return result == 0 && found.get(JAVA_INT, 0) == ON_DEVICE;
  }

  /** Returns the number of kernels in it. */
  public int kernels() {
    return kernels;
  }

  /**
   * Starts it on the default stream, after what was started before.
   *
   * @param places the seed of each place that was named when it was recorded
   */
  public void start(long[] places) {
    device.makeCurrent();
    seeds.give(places);
    int result;
    try {
      result = (int) launch.invokeExact(executable, MemorySegment.NULL);
    } catch (Throwable failure) {
      throw new IllegalStateException("cannot start a graph", failure);
    }
    if (result != 0) {
      throw new IllegalStateException("cuGraphLaunch failed with error " + result);
    }
  }

  private static NativeLibrary driver() {
    return GraphRecorder.driver();
  }

  /** Waits until it is done, and gives its memory back. */
  @Override
  public void close() {
    device.synchronize();
    driver().call("cuGraphExecDestroy", executable);
    seeds.close();
    memory.close();
  }
}
