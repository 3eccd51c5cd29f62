package dev.flotilla.pass;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.DeviceGraph;
import dev.flotilla.memory.DeviceMemory;
import dev.flotilla.memory.GraphRecorder;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.settings.ByteSize;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Passes that are recorded on a CUDA device, once for each form of a batch, and then started as a
 * whole: otherwise a device may wait for the host, which hands over kernel after kernel.
 *
 * <p>The first passes of a form run as usual, one of them on the stream that the next is recorded
 * on. What cannot be recorded, and batches of other forms, run as usual all the time.
 */
public final class RecordedPasses implements AutoCloseable {

  /** Passes of a form before it is recorded. */
  private static final int BEFORE = 3;

  /** Forms that are recorded, and forms that are counted: batches of any size may come. */
  private static final int MOST_RECORDED = 4;

  private static final int MOST_FORMS = 16;

  /** Passes that take more memory are recorded if as much is free besides. */
  private static final long SMALL = 1L << 30;

  private final SegmentChain chain;
  private final BoundModel model;
  private final Optional<GraphRecorder> recorder;
  private final Map<Form, Recording> recordings = new HashMap<>();
  private @Nullable String refusal;
  private long replays;

  private RecordedPasses(
      SegmentChain chain, Optional<GraphRecorder> recorder, @Nullable String refusal) {
    this.chain = chain;
    this.model = chain.model();
    this.recorder = recorder;
    this.refusal = refusal;
  }

  /**
   * Prepares for passes of a chain, if they may be recorded.
   *
   * @param isPlain whether passes depend on nothing but a batch and memory that stays in its place
   */
  public static RecordedPasses of(SegmentChain chain, int ranks, boolean isPlain) {
    var refusal = whyNone(chain.model(), ranks, isPlain);
    return new RecordedPasses(
        chain,
        refusal == null ? Optional.of(new GraphRecorder(chain.model().device())) : Optional.empty(),
        refusal);
  }

  private static @Nullable String whyNone(BoundModel model, int ranks, boolean isPlain) {
    if (!GraphRecorder.isWanted()) {
      return "switched off";
    }
    if (ranks > 1 || !model.device().isCuda()) {
      return ranks > 1 ? "there are several ranks" : "there is no GPU";
    }
    if (!isPlain) {
      return "techniques change passes, or what they take";
    }
    return model.model().isRecordable() ? null : "the model does not say that passes repeat";
  }

  /** What passes do, whole and in the parts that are left of them once they are recorded. */
  public interface Passes {

    /** Runs a pass as usual, and counts it. */
    void run(Batch batch, MicroStep step);

    /**
     * Starts its work on the device, and changes nothing in the host.
     *
     * @return the terms of its loss
     */
    long start(Batch batch, MicroStep step);

    /** Counts a pass that was repeated. */
    void repeated(long terms);

    /**
     * Begins a pass that may be repeated: decides what the last update has left open.
     *
     * @return the memory that it works with besides its batch, and what else it depends on
     */
    List<Object> begin();
  }

  /**
   * What a pass gives, the same each time but for the numbers on the device.
   *
   * @param terms of the batch's loss
   * @param outputs of the model, which belong to the recording
   */
  private record Started(long terms, List<Tensor> outputs) {}

  /**
   * What must be the same for a recording to serve.
   *
   * @param tensors of the batch
   * @param places of the memory that a pass works with besides, and what else it depends on
   */
  private record Form(List<TensorForm> tensors, int samples, List<Object> places) {}

  /** A form, and its recording once it is made. */
  private static final class Recording implements AutoCloseable {

    private int passes;
    private long bytes;
    private @Nullable Started started;
    private @Nullable Batch batch;
    private @Nullable DeviceGraph graph;

    /**
     * Targets in main memory are kept from those who would count what changes from batch to batch,
     * unless they say so.
     */
    Batch ownCopyOf(Batch given, ComputeDevice device, boolean countsTargets) {
      var inputs = copies(given.inputs(), device);
      var targets = copies(given.allTargets(), device);
      batch = new Batch(inputs, targets, given.samples(), targets);
      var counted = countsTargets ? given.allHostTargets() : targets;
      return new Batch(inputs, targets, given.samples(), counted);
    }

    private static List<Tensor> copies(List<Tensor> tensors, ComputeDevice device) {
      List<Tensor> copies = new ArrayList<>();
      for (var tensor : tensors) {
        var copy = device.empty(tensor.scalar_type(), tensor.shape());
        copies.add(TensorScope.keep(copy.copy_(tensor)));
      }
      return copies;
    }

    void fill(Batch into, Batch given) {
      copy(given.inputs(), into.inputs());
      copy(given.allTargets(), into.allTargets());
    }

    private static void copy(List<Tensor> from, List<Tensor> to) {
      for (int i = 0; i < from.size(); i++) {
        to.get(i).copy_(from.get(i), true);
      }
    }

    @Override
    public void close() {
      if (graph != null) {
        graph.close();
        graph = null;
      }
      if (started != null) {
        started.outputs().forEach(TensorScope::free);
        started = null;
      }
      if (batch != null) {
        batch.inputs().forEach(TensorScope::free);
        batch.allTargets().forEach(TensorScope::free);
        batch = null;
      }
    }
  }

  /** Runs a pass: as usual, or by starting its recording. */
  public void run(Batch batch, MicroStep step, Passes passes) {
    var recording = refusal == null ? recordingOf(batch, passes.begin()) : null;
    if (recording != null
        && recording.graph != null
        && recording.batch != null
        && recording.started != null) {
      chain.requireTargets(recording.started.outputs(), batch);
      recording.fill(recording.batch, batch);
      repeat(recording, recording.graph, batch, step, passes);
      return;
    }
    // Right answers are counted besides what is repeated.
    if (recording == null || chain.isScoring()) {
      passes.run(batch, step);
      return;
    }
    recording.passes++;
    if (recording.passes < BEFORE) {
      recording.bytes = memory().peakBytesOf(() -> passes.run(batch, step));
    } else if (recording.passes == BEFORE) {
      requireRoom(recording.bytes);
      if (refusal != null || !isRunAside(recording, batch, step, passes)) {
        passes.run(batch, step);
      }
    } else {
      record(recording, batch, step, passes);
    }
  }

  private boolean isRunAside(Recording recording, Batch batch, MicroStep step, Passes passes) {
    releaseFor(recording);
    return recorder().aside(() -> passes.run(batch, step));
  }

  /** Other work must find the memory that it found before: what a recording works in is its own. */
  private void requireRoom(long bytes) {
    if (bytes > SMALL && memory().roomBytes() < bytes) {
      refusal =
          "a pass takes %s, and there is no room for as much besides"
              .formatted(new ByteSize(bytes));
    }
  }

  /** On another stream memory is another's: what passes have taken before is of no use there. */
  private void releaseFor(Recording recording) {
    if (recording.bytes > SMALL) {
      model.device().synchronize();
      memory().release();
    }
  }

  private DeviceMemory memory() {
    return new DeviceMemory(model.device());
  }

  private GraphRecorder recorder() {
    return recorder.orElseThrow();
  }

  private @Nullable Recording recordingOf(Batch batch, List<Object> places) {
    var tensors = Stream.concat(batch.inputs().stream(), batch.allTargets().stream()).toList();
    if (!tensors.stream().allMatch(Tensor::is_contiguous)) {
      return null;
    }
    var form =
        new Form(
            tensors.stream().map(tensor -> TensorForm.of(tensor, false)).toList(),
            batch.samples(),
            places);
    var known = recordings.get(form);
    if (known == null && recordings.size() < MOST_FORMS) {
      known = new Recording();
      recordings.put(form, known);
    }
    return known;
  }

  private void repeat(
      Recording recording, DeviceGraph graph, Batch batch, MicroStep step, Passes passes) {
    graph.start(chain.seeds(step));
    replays++;
    var started = recording.started;
    if (started != null) {
      var objective = model.objective();
      boolean isCounted = objective.countsTargets();
      passes.repeated(isCounted ? (long) objective.count(batch) : started.terms());
      chain.scoreRepeated(started.outputs(), batch);
    }
  }

  private void record(Recording recording, Batch batch, MicroStep step, Passes passes) {
    var graph = recorded() < MOST_RECORDED ? graphOf(recording, batch, step, passes) : null;
    if (graph == null) {
      passes.run(batch, step);
    } else {
      repeat(recording, graph, batch, step, passes);
    }
  }

  private @Nullable DeviceGraph graphOf(
      Recording recording, Batch batch, MicroStep step, Passes passes) {
    try (var _ = TensorScope.open()) {
      releaseFor(recording);
      var own = recording.ownCopyOf(batch, model.device(), model.objective().countsTargets());
      var graph =
          recorder()
              .record(
                  model.parts().size(),
                  () ->
                      chain.whileRecorded(
                          outputs -> {
                            long terms = passes.start(own, step);
                            recording.started = new Started(terms, outputs.get());
                            return terms;
                          }));
      recording.graph = graph.orElse(null);
    } catch (RuntimeException unable) {
      refusal = reason(unable);
    }
    if (recording.graph == null) {
      recording.close();
    }
    return recording.graph;
  }

  /** Says in words what libtorch refuses while a stream is recorded. */
  private static String reason(Throwable failure) {
    if (failure.getCause() != null) {
      return reason(failure.getCause());
    }
    var message = String.valueOf(failure.getMessage()).lines().findFirst().orElse("");
    return message.contains("when stream is capturing") ? "passes wait for the device" : message;
  }

  private long recorded() {
    return recordings.values().stream().filter(it -> it.graph != null).count();
  }

  /** Returns what the run's summary should say. */
  public String summary() {
    int kernels =
        recordings.values().stream()
            .mapToInt(it -> it.graph == null ? 0 : it.graph.kernels())
            .max()
            .orElse(0);
    return recorded() == 0
        ? refusal == null ? "none yet" : "none: " + refusal
        : "%d micro-steps, each with one call for up to %d kernels".formatted(replays, kernels);
  }

  @Override
  public void close() {
    recordings.values().forEach(Recording::close);
    recordings.clear();
    recorder.ifPresent(GraphRecorder::close);
  }
}
