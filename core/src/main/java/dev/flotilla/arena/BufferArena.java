package dev.flotilla.arena;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.BufferSpec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * A model's buffers: running statistics in one flat tensor, so that averaging them is one
 * collective, and counters in another, because they are never averaged.
 */
public final class BufferArena implements AutoCloseable {

  private final Tensor statistics;
  private final Tensor counters;
  private final Map<String, Tensor> buffers = new LinkedHashMap<>();

  /** Allocates all buffers in main memory with their initial values. */
  public BufferArena(List<BufferSpec> specs, Precision precision) {
    this(specs, precision, ComputeDevice.CPU);
  }

  /** Allocates all buffers on a device with their initial values. */
  public BufferArena(List<BufferSpec> specs, Precision precision, ComputeDevice device) {
    try (var _ = TensorScope.open()) {
      statistics = TensorScope.keep(device.zeros(precision.scalarType(), length(specs, false)));
      counters = TensorScope.keep(device.zeros(torch.ScalarType.Long, length(specs, true)));
      long[] offsets = new long[2];
      for (var spec : specs) {
        int kind = spec.counter() ? 1 : 0;
        var flat = spec.counter() ? counters : statistics;
        buffers.put(spec.name(), TensorScope.keep(place(spec, flat, offsets[kind])));
        offsets[kind] += spec.shape().elements();
      }
    }
  }

  private static long length(List<BufferSpec> specs, boolean ofCounters) {
    return specs.stream()
        .filter(spec -> spec.counter() == ofCounters)
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
        Stream.of(statistics, counters).filter(flat -> flat.numel() > 0).toList());
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

  /** Makes a user's buffer live here, keeping its values. */
  public void adopt(String name, Tensor buffer) {
    var place = buffers.get(name);
    if (place == null) {
      throw new IllegalArgumentException("no buffer named " + name);
    }
    place.copy_(buffer);
    buffer.set_data(place);
  }

  @Override
  public void close() {
    buffers.values().forEach(TensorScope::free);
    TensorScope.free(counters);
    TensorScope.free(statistics);
  }
}
