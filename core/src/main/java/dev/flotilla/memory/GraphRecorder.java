package dev.flotilla.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;

import dev.flotilla.settings.ConfigException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.annotation.Cast;
import org.bytedeco.pytorch.cuda.CUDAStream;
import org.bytedeco.pytorch.cuda.StreamFilter;
import org.bytedeco.pytorch.global.torch_cuda;
import org.jspecify.annotations.Nullable;

/**
 * Records what is started on a CUDA device, so that it can be started again as a whole.
 *
 * <p>The default stream cannot be recorded, so the work is led to a stream of its own. Libraries
 * get what they need there from a run of the same work {@link #aside}, which comes first. One
 * thread of a process records at a time; what others start meanwhile is not recorded.
 *
 * <p>Not thread-safe.
 */
public final class GraphRecorder implements AutoCloseable {

  /** Other threads may go on with what cannot be recorded, such as taking memory. */
  static final int THIS_THREAD = 1;

  /** Nothing that the default stream does waits for a stream of this kind, or the other way. */
  private static final int APART = 1;

  /**
   * One stream for each device, as long as the process lives: libraries keep memory for each stream
   * that they have seen.
   */
  private static final Map<ComputeDevice, MemorySegment> STREAMS = new ConcurrentHashMap<>();

  private static final ReentrantLock ONE_AT_A_TIME = new ReentrantLock();
  private static volatile @Nullable Thread leading;
  private static volatile @Nullable Recording recording;

  private final ComputeDevice device;
  private final CUDAStream aside;
  private final MemorySegment stream;

  /** What a thread records now. */
  private record Recording(Thread thread, GraphSeeds seeds) {}

  /** Creates a recorder for a CUDA device. */
  public GraphRecorder(ComputeDevice device) {
    this.device = device;
    try (var _ = TensorScope.open()) {
      stream = STREAMS.computeIfAbsent(device, GraphRecorder::newStream);
      aside = TensorScope.keep(streamAt(stream, device));
    }
  }

  /** libtorch's number of a stream that it has not made is the stream's address. */
  static CUDAStream streamAt(MemorySegment stream, ComputeDevice device) {
    return CUDAStream.unpack3(stream.address(), (byte) device.index(), device.type());
  }

  static MemorySegment newStream(ComputeDevice device) {
    device.synchronize(); // There is no context before the first call.
    device.makeCurrent();
    try (var arena = Arena.ofConfined()) {
      var holder = arena.allocate(ADDRESS);
      driver().call("cuStreamCreate", holder, APART);
      return holder.get(ADDRESS, 0);
    }
  }

  /**
   * Tells whether work is recorded where it can be: unless {@code FLOTILLA_GRAPHS}, or the system
   * property {@code flotilla.graphs}, is off.
   *
   * @throws ConfigException if it is neither on nor off
   */
  public static boolean isWanted() {
    var set =
        System.getProperty(
            "flotilla.graphs", System.getenv().getOrDefault("FLOTILLA_GRAPHS", "on"));
    return switch (set) {
      case "on" -> true;
      case "off" -> false;
      default ->
          throw new ConfigException(
              "FLOTILLA_GRAPHS", "must be on or off, but was '%s'".formatted(set));
    };
  }

  /**
   * Returns where kernels find the seed of the place that draws now, if this thread's work is being
   * recorded: numbers that the host passes to them would stay what they are.
   *
   * @throws IllegalStateException if no place was named
   */
  public static Optional<MemorySegment> seedHere() {
    return here().map(GraphSeeds::address);
  }

  /** Says which place of the work that this thread records draws the next random numbers. */
  public static void drawFor(int place) {
    here().ifPresent(seeds -> seeds.drawFor(place));
  }

  private static Optional<GraphSeeds> here() {
    return Optional.ofNullable(recording)
        .filter(it -> it.thread().equals(Thread.currentThread()))
        .map(Recording::seeds);
  }

  /** Returns the stream that this thread's work goes to. */
  static MemorySegment streamOf(ComputeDevice device) {
    if (leading == null) {
      return MemorySegment.NULL;
    }
    try (var _ = TensorScope.open()) {
      long current = torch_cuda.getCurrentCUDAStream((byte) device.index()).id();
      var aside = STREAMS.getOrDefault(device, MemorySegment.NULL);
      return current == aside.address() ? aside : MemorySegment.NULL;
    }
  }

  /**
   * Runs work on the recorder's stream, after all that was started before and before all that is
   * started later.
   *
   * @return whether it ran: it does not while another thread records
   */
  public boolean aside(Runnable work) {
    return led(() -> {
          work.run();
          return true;
        })
        .isPresent();
  }

  /**
   * Records work without running it on the device.
   *
   * @param places in the work that may draw random numbers, each after {@link #drawFor}
   * @return nothing while another thread records
   * @throws RuntimeException what the work throws, if it waits for the device for instance; nothing
   *     of it is left then
   * @throws IllegalStateException if what was started cannot be repeated
   */
  public Optional<DeviceGraph> record(int places, Runnable work) {
    return led(() -> recorded(places, work));
  }

  private <T> Optional<T> led(Supplier<T> work) {
    if (!ONE_AT_A_TIME.tryLock()) {
      return Optional.empty();
    }
    try (var _ = TensorScope.open()) {
      var before = torch_cuda.getCurrentCUDAStream((byte) device.index());
      device.synchronize();
      leading = Thread.currentThread();
      torch_cuda.setCurrentCUDAStream(aside);
      try {
        return Optional.of(work.get());
      } finally {
        torch_cuda.setCurrentCUDAStream(before);
        leading = null;
        device.synchronize();
      }
    } finally {
      ONE_AT_A_TIME.unlock();
    }
  }

  private DeviceGraph recorded(int places, Runnable work) {
    var seeds = new GraphSeeds(device, places);
    var memory = new GraphMemory(device);
    try {
      var graph = DeviceGraph.of(device, captured(work, memory, seeds), memory, seeds);
      seeds.findDrawn();
      return graph;
    } catch (RuntimeException | Error failure) {
      seeds.close();
      memory.close();
      throw failure;
    }
  }

  /** Returns the driver's graph of what the work starts. */
  private MemorySegment captured(Runnable work, GraphMemory memory, GraphSeeds seeds) {
    try (var filter = new OnStream(stream.address());
        var arena = Arena.ofConfined()) {
      var graph = arena.allocate(ADDRESS);
      memory.takeFor(filter);
      seeds.begin();
      try {
        driver().call("cuStreamBeginCapture_v2", stream, THIS_THREAD);
        int result;
        boolean isDone = false;
        recording = new Recording(Thread.currentThread(), seeds);
        try {
          work.run();
          isDone = true;
        } finally {
          recording = null;
          result = driver().result("cuStreamEndCapture", stream, graph);
          if (!isDone && result == 0) {
            driver().call("cuGraphDestroy", graph.get(ADDRESS, 0));
          }
        }
        if (result != 0) {
          throw new IllegalStateException("cuStreamEndCapture failed with error " + result);
        }
        return graph.get(ADDRESS, 0);
      } finally {
        seeds.end();
        memory.isTaken();
      }
    }
  }

  /** Tells libtorch's allocator which memory belongs to a recording: what its stream asks for. */
  private static final class OnStream extends StreamFilter {

    private final long stream;

    OnStream(long stream) {
      this.stream = stream;
    }

    @Override
    public boolean call(@Cast("cudaStream_t") Pointer asking) {
      return asking != null && asking.address() == stream;
    }
  }

  static NativeLibrary driver() {
    return NativeLibrary.find("libcuda.so.1").orElseThrow();
  }

  @Override
  public void close() {
    TensorScope.free(aside);
  }
}
