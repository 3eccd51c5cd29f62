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
 * whole: small models wait for the host, which hands over kernel after kernel.
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

  /** Passes that take more memory keep a device busy by themselves. */
  private static final long MOST_BYTES = 1L << 30;

  private final ComputeDevice device;
  private final GraphRecorder recorder;
  private final Map<Form, Recording> recordings = new HashMap<>();
  private @Nullable String refusal;
  private long replays;

  /** Prepares for passes on a CUDA device. */
  public RecordedPasses(ComputeDevice device) {
    this.device = device;
    recorder = new GraphRecorder(device);
  }

  /** A pass whose work on the device depends on its batch and on memory that stays in its place. */
  @FunctionalInterface
  public interface Pass {

    /** Starts the work, and changes nothing in the host. */
    Started start(Batch batch);
  }

  /**
   * What a pass gives, the same each time but for the numbers on the device.
   *
   * @param terms of the batch's loss
   * @param outputs of the model, which belong to the recording
   */
  public record Started(long terms, List<Tensor> outputs) {}

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
    private @Nullable Started started;
    private @Nullable Batch batch;
    private @Nullable DeviceGraph graph;

    /**
     * Targets in main memory are kept from those who would count what changes from batch to batch.
     */
    Batch ownCopyOf(Batch given, ComputeDevice device) {
      var inputs = copies(given.inputs(), device);
      var targets = copies(given.allTargets(), device);
      var copy = new Batch(inputs, targets, given.samples(), targets);
      batch = copy;
      return copy;
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

  /**
   * Runs a pass: as usual, or by starting its recording.
   *
   * @param places the memory that a pass works with besides, and what else it depends on
   * @param mayRecord whether a recording may be made of this one
   * @param asUsual runs it and counts it
   * @param pass the same without counting
   * @return what was started, which the caller has to count; empty if it ran as usual
   */
  public Optional<Started> run(
      Batch batch, List<Object> places, boolean mayRecord, Runnable asUsual, Pass pass) {
    var recording = refusal == null ? recordingOf(batch, places) : null;
    if (recording != null && recording.graph != null && recording.batch != null) {
      recording.fill(recording.batch, batch);
      return start(recording, recording.graph);
    }
    if (recording == null || !mayRecord) {
      asUsual.run();
      return Optional.empty();
    }
    recording.passes++;
    if (recording.passes > BEFORE) {
      return record(recording, batch, asUsual, pass);
    }
    if (recording.passes < BEFORE) {
      requireSmall(new DeviceMemory(device).peakBytesOf(asUsual));
    } else if (!recorder.aside(asUsual)) {
      asUsual.run();
    }
    return Optional.empty();
  }

  private void requireSmall(long bytes) {
    if (bytes > MOST_BYTES) {
      refusal =
          "a pass takes %s, and more than %s keeps a device busy"
              .formatted(new ByteSize(bytes), new ByteSize(MOST_BYTES));
    }
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

  private Optional<Started> start(Recording recording, DeviceGraph graph) {
    graph.start();
    replays++;
    return Optional.ofNullable(recording.started);
  }

  private Optional<Started> record(Recording recording, Batch batch, Runnable asUsual, Pass pass) {
    if (recorded() < MOST_RECORDED) {
      try (var _ = TensorScope.open()) {
        var own = recording.ownCopyOf(batch, device);
        var graph = recorder.record(() -> recording.started = pass.start(own));
        if (graph.isPresent()) {
          recording.graph = graph.get();
          return start(recording, graph.get());
        }
        recording.close();
      } catch (RuntimeException unable) {
        recording.close();
        refusal = reason(unable);
      }
    }
    asUsual.run();
    return Optional.empty();
  }

  /** Says in words what libtorch refuses while a stream is recorded. */
  private static String reason(Throwable failure) {
    if (failure.getCause() != null) {
      return reason(failure.getCause());
    }
    var message = String.valueOf(failure.getMessage()).lines().findFirst().orElse("");
    return message.contains("generator")
        ? "passes draw random numbers"
        : message.contains("when stream is capturing") ? "passes wait for the device" : message;
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
    recorder.close();
  }
}
