package dev.flotilla.pass;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.AutogradFunction;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.Shape;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Runs a batch forward part by part to see what each part costs, without a trace in the training:
 * no statistics move, no gradient is added, and every part is seeded anew afterwards.
 */
public final class ProfilingPass {

  private final PartRunner parts;
  private final int count;
  private final Batch batch;
  private final long microStep;
  private final Consumer<Activations> loss;

  ProfilingPass(
      PartRunner parts, int count, Batch batch, long microStep, Consumer<Activations> loss) {
    this.parts = parts;
    this.count = count;
    this.batch = batch;
    this.microStep = microStep;
    this.loss = loss;
  }

  /** Returns where the parts run. */
  public ComputeDevice device() {
    return parts.device();
  }

  /** Returns the shapes of what the batch holds, which decide about what it will cost. */
  public List<Shape> inputShapes() {
    return batch.inputs().stream().map(tensor -> Shape.of(tensor.shape())).toList();
  }

  /**
   * Runs the whole chain so many times, and once before. Other threads of the process take memory
   * and time as well, so the middle of the bytes counts, and the least of the times.
   */
  public List<PartCost> measure(int rounds) {
    List<List<PartCost>> all = new ArrayList<>();
    parts.alone(
        () -> {
          round();
          for (int i = 0; i < rounds; i++) {
            all.add(round());
          }
        });
    return IntStream.range(0, count).mapToObj(part -> PartCost.typical(part, all)).toList();
  }

  private List<PartCost> round() {
    List<PartCost> costs = new ArrayList<>();
    var storages = new Storages();
    try (var _ = TensorScope.open();
        var relay = new Relay(parts.inputs(batch))) {
      for (int part = 0; part < count; part++) {
        relay.pass(run(part, relay.current(), storages, costs));
      }
    }
    return costs;
  }

  private Activations run(int part, Activations input, Storages storages, List<PartCost> costs) {
    try (var _ = TensorScope.open();
        var _ = AutogradFunction.dropped();
        var relay = new Relay(input)) {
      var device = parts.device();
      // Memory of parameters that come here is none that the part takes.
      parts.enter(part);
      device.synchronize();
      long before = NativeMemory.liveBytes(device);
      long start = System.nanoTime();
      relay.pass(parts.body(part, input, ForwardMode.RECOMPUTE, microStep));
      device.synchronize();
      long end = System.nanoTime();
      relay.pass(parts.end(part, relay.current(), ForwardMode.RECOMPUTE));
      var outputs = relay.current();
      device.synchronize();
      long leftOut = parts.finalFunction(part) == null ? 0 : System.nanoTime() - end;
      if (part == count - 1) {
        loss.accept(outputs);
      }
      device.synchronize();
      long nanos = System.nanoTime() - start;
      long kept = Math.max(0, NativeMemory.liveBytes(device) - before);
      costs.add(new PartCost(parts.name(part), kept, nanos, leftOut, storages.behind(outputs)));
      return new Activations(
          outputs.tensors().stream()
              .map(t -> TensorScope.keep(t.detach().set_requires_grad(t.requires_grad())))
              .toList());
    }
  }

  /**
   * Numbers the memory of activations. Its address will not do: an allocator puts the output of one
   * part where that of an earlier one was.
   */
  private static final class Storages {

    private Map<Long, Long> numbers = Map.of();
    private long next;

    /** Returns bytes by number behind a part; what the part has let pass keeps its number. */
    Map<Long, Long> behind(Activations outputs) {
      Map<Long, Long> behind = new HashMap<>();
      Map<Long, Long> bytes = new HashMap<>();
      for (var tensor : outputs.tensors()) {
        var storage = tensor.storage();
        if (storage.nbytes() > 0) { // An empty tensor has no address.
          long address = storage.data().address();
          var before = numbers.get(address);
          long number = behind.computeIfAbsent(address, _ -> before == null ? next++ : before);
          bytes.put(number, storage.nbytes());
        }
      }
      numbers = behind;
      return bytes;
    }
  }
}
