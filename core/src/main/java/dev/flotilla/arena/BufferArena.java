package dev.flotilla.arena;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.BufferSpec.Kind;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * A model's buffers: running statistics in one flat tensor, so that averaging them is one
 * collective, counters in another, because they are never averaged, and what else a user's module
 * keeps as it is.
 */
public final class BufferArena implements AutoCloseable {

  private final Precision precision;
  private final ComputeDevice device;
  private final Tensor statistics;
  private final Tensor counters;
  private final Set<String> awaited = new HashSet<>();
  private final List<String> others = new ArrayList<>();
  private final Map<String, Tensor> buffers = new LinkedHashMap<>();

  /** Allocates all buffers in main memory with their initial values. */
  public BufferArena(List<BufferSpec> specs, Precision precision) {
    this(specs, precision, ComputeDevice.CPU);
  }

  /** Allocates all buffers on a device with their initial values. */
  public BufferArena(List<BufferSpec> specs, Precision precision, ComputeDevice device) {
    this.precision = precision;
    this.device = device;
    try (var _ = TensorScope.open()) {
      statistics =
          TensorScope.keep(device.zeros(precision.scalarType(), length(specs, Kind.STATISTIC)));
      counters = TensorScope.keep(device.zeros(torch.ScalarType.Long, length(specs, Kind.COUNTER)));
      Map<Kind, Long> offsets = new EnumMap<>(Kind.class);
      for (var spec : specs) {
        if (spec.kind() == Kind.OTHER) {
          awaited.add(spec.name());
          continue;
        }
        var flat = spec.isStatistic() ? statistics : counters;
        long offset = offsets.getOrDefault(spec.kind(), 0L);
        buffers.put(spec.name(), TensorScope.keep(place(spec, flat, offset)));
        offsets.put(spec.kind(), offset + spec.shape().elements());
      }
    }
  }

  private static long length(List<BufferSpec> specs, Kind kind) {
    return specs.stream()
        .filter(spec -> spec.kind() == kind)
        .mapToLong(spec -> spec.shape().elements())
        .sum();
  }

  private static Tensor place(BufferSpec spec, Tensor flat, long offset) {
    return flat.narrow(0, offset, spec.shape().elements())
        .view(spec.shape().toArray())
        .fill_(new Scalar(spec.initial()));
  }

  /** Copies all buffers, to put them back later; the copy is the caller's. */
  public BufferCopy copy() {
    return new BufferCopy(
        Stream.concat(Stream.of(statistics, counters), others().values().stream())
            .filter(tensor -> tensor.numel() > 0)
            .toList());
  }

  /** Returns the buffers by name, in forward order. */
  public Map<String, Tensor> buffers() {
    return java.util.Collections.unmodifiableMap(buffers);
  }

  /** Returns all running statistics as one flat tensor. */
  public Tensor statistics() {
    return statistics;
  }

  /** Tells whether there is anything to average over ranks. */
  public boolean hasStatistics() {
    return statistics.numel() > 0;
  }

  /** Returns what is neither a statistic nor a counter, by name. */
  public SequencedMap<String, Tensor> others() {
    SequencedMap<String, Tensor> found = new LinkedHashMap<>();
    others.forEach(name -> found.put(name, Objects.requireNonNull(buffers.get(name))));
    return found;
  }

  /** Makes a user's buffer live here, keeping its values. */
  public void adopt(String name, Tensor buffer) {
    if (awaited.remove(name)) {
      buffers.put(name, TensorScope.keep(placeFor(buffer)));
      others.add(name);
    }
    var place = buffers.get(name);
    if (place == null) {
      throw new IllegalArgumentException("no buffer named " + name);
    }
    place.copy_(buffer);
    buffer.set_data(place);
  }

  /** Numbers with a fraction have the run's type, as parameters do; all else keeps its own. */
  private Tensor placeFor(Tensor buffer) {
    var type = buffer.is_floating_point() ? precision.scalarType() : buffer.scalar_type().intern();
    return device.empty(type, buffer.shape());
  }

  @Override
  public void close() {
    buffers.values().forEach(TensorScope::free);
    TensorScope.free(counters);
    TensorScope.free(statistics);
  }
}
