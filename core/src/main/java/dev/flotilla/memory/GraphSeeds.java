package dev.flotilla.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Generator;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.cuda.CUDAStream;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch_cuda;

/**
 * The random numbers of recorded work: they depend on seeds, one for each place in the work, which
 * are given anew whenever it is started.
 *
 * <p>libtorch's generator can be asked while a stream is recorded only if a graph of libtorch's own
 * class is being recorded that knows its state. The binding lacks that class. So a graph that does
 * nothing is recorded with it, on a stream beside, by the functions that libtorch exports; to start
 * it tells the states their seeds. A place has a state of its own, with which libtorch's generator
 * draws what it would draw from that place's seed. Kernels of our own read the seed themselves.
 */
final class GraphSeeds implements AutoCloseable {

  private static final String GRAPH = "_ZN2at4cuda9CUDAGraph";
  private static final String MAKE = GRAPH + "C1Eb";
  private static final String REGISTER = GRAPH + "24register_generator_stateERKNS_9GeneratorE";
  private static final String BEGIN = GRAPH + "13capture_beginESt4pairIyyE21cudaStreamCaptureMode";
  private static final String END = GRAPH + "11capture_endEv";
  private static final String START = GRAPH + "6replayEv";
  private static final String DESTROY = GRAPH + "D1Ev";

  /** More than an object of that class takes. */
  private static final long OBJECT_BYTES = 4096;

  private static final int ALIGNMENT = 16;
  private static final int NO_GRAPH_KEPT = 0;
  private static final int BEING_RECORDED = 1;

  /** As long as the process lives, as those of {@link GraphRecorder}. */
  private static final Map<ComputeDevice, MemorySegment> STREAMS = new ConcurrentHashMap<>();

  private final Arena arena = Arena.ofShared();
  private final NativeLibrary library = NativeLibrary.find("libtorch_cuda.so").orElseThrow();
  private final MemorySegment graph = arena.allocate(OBJECT_BYTES, ALIGNMENT);
  private final GraphMemory memory;
  private final MemorySegment stream;
  private final CUDAStream beside;
  private final Generator drawing;
  private final Generator before;
  private final Generator[] places;
  private final Tensor seeds;
  private final Tensor nothing;
  private int place = -1;
  private boolean isRead;
  private boolean isBroken;
  private int[] drawn = {};

  /**
   * Prepares for work that draws at so many places at most, on the thread that will record it and
   * on a stream that is not being recorded.
   */
  GraphSeeds(ComputeDevice device, int places) {
    memory = GraphMemory.besideAnother(device);
    stream = STREAMS.computeIfAbsent(device, GraphRecorder::newStream);
    library.run(MAKE, graph, NO_GRAPH_KEPT);
    try (var _ = TensorScope.open()) {
      beside = TensorScope.keep(GraphRecorder.streamAt(stream, device));
      drawing = TensorScope.keep(device.generator());
      before = TensorScope.keep(drawing.graphsafe_get_state());
      this.places =
          IntStream.range(0, places)
              .mapToObj(
                  _ -> TensorScope.keep(torch_cuda.make_generator_cuda((byte) device.index())))
              .toArray(Generator[]::new);
      seeds = TensorScope.keep(device.empty(torch.ScalarType.Long, places));
      nothing = TensorScope.keep(device.empty(torch.ScalarType.Long, 1));
    }
    for (var state : this.places) {
      library.run(REGISTER, graph, MemorySegment.ofAddress(state.address()));
    }
  }

  /** Begins, before the work's own stream is recorded. */
  void begin() {
    // The graph takes hold of the state that it finds, whatever becomes of the recording.
    drawing.graphsafe_set_state(places[0]);
    besides(
        () -> {
          library.run(BEGIN, graph, memory.first(), memory.second(), GraphRecorder.THIS_THREAD);
          nothing.zero_(); // libtorch warns of a graph without a node.
        });
  }

  /** Says which place draws next. */
  void drawFor(int next) {
    place = next;
    drawing.graphsafe_set_state(places[next]);
  }

  /** Returns where the seed of the place lies that draws now. */
  MemorySegment address() {
    if (place < 0) {
      throw new IllegalStateException("random numbers would be the same in each pass");
    }
    isRead = true;
    try (var pointer = seeds.data_ptr()) {
      return MemorySegment.ofAddress(pointer.address() + place * (long) Long.BYTES);
    }
  }

  /** Ends, after the work's own stream has been recorded, or has failed to be. */
  void end() {
    drawing.graphsafe_set_state(before);
    isBroken = !isBeingRecorded();
    if (isBroken) {
      // libtorch would end the process with an exception that nobody can catch here.
      try (var own = Arena.ofConfined()) {
        int _ = GraphRecorder.driver().result("cuStreamEndCapture", stream, own.allocate(ADDRESS));
      }
      memory.isTaken();
    } else {
      besides(() -> library.run(END, graph));
    }
  }

  private boolean isBeingRecorded() {
    try (var own = Arena.ofConfined()) {
      var status = own.allocate(JAVA_INT);
      int result = GraphRecorder.driver().result("cuStreamIsCapturing", stream, status);
      return result == 0 && status.get(JAVA_INT, 0) == BEING_RECORDED;
    }
  }

  private void besides(Runnable action) {
    try (var _ = TensorScope.open()) {
      var current = torch_cuda.getCurrentCUDAStream(beside.device_index());
      torch_cuda.setCurrentCUDAStream(beside);
      try {
        action.run();
      } finally {
        torch_cuda.setCurrentCUDAStream(current);
      }
    }
  }

  /** Finds the places that have drawn: with their first start their states move on. */
  void findDrawn() {
    library.run(START, graph);
    drawn = IntStream.range(0, places.length).filter(it -> places[it].get_offset() > 0).toArray();
  }

  /** Gives the seeds to what is started next on this thread's stream. */
  void give(long[] values) {
    if (isRead) {
      try (var _ = TensorScope.open()) {
        seeds.copy_(Tensors.ofLongs(values), true);
      }
    }
    if (drawn.length > 0) {
      for (int it : drawn) {
        places[it].set_current_seed(values[it]);
      }
      library.run(START, graph);
    }
  }

  @Override
  public void close() {
    if (!isBroken) {
      library.run(DESTROY, graph);
      Stream.of(places).forEach(TensorScope::free);
      arena.close();
    }
    TensorScope.free(seeds);
    TensorScope.free(nothing);
    TensorScope.free(before);
    TensorScope.free(drawing);
    TensorScope.free(beside);
    memory.free();
  }
}
