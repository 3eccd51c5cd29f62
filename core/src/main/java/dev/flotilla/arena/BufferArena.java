package dev.flotilla.arena;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.BufferSpec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * A model's buffers: running statistics in one flat tensor, so that averaging them is one
 * collective, and counters on their own, because they are never averaged.
 */
public final class BufferArena implements AutoCloseable {

  private final ComputeDevice device;
  private final Tensor statistics;
  private final Map<String, Tensor> buffers = new LinkedHashMap<>();

  /** Allocates all buffers in main memory with their initial values. */
  public BufferArena(List<BufferSpec> specs, Precision precision) {
    this(specs, precision, ComputeDevice.CPU);
  }

  /** Allocates all buffers on a device with their initial values. */
  public BufferArena(List<BufferSpec> specs, Precision precision, ComputeDevice device) {
    this.device = device;
    try (var _ = TensorScope.open()) {
      long length =
          specs.stream().filter(s -> !s.counter()).mapToLong(s -> s.shape().elements()).sum();
      statistics = TensorScope.keep(device.zeros(precision.scalarType(), length));
      long offset = 0;
      for (var spec : specs) {
        buffers.put(spec.name(), TensorScope.keep(allocate(spec, offset)));
        offset += spec.counter() ? 0 : spec.shape().elements();
      }
    }
  }

  private Tensor allocate(BufferSpec spec, long offset) {
    long[] shape = spec.shape().toArray();
    Tensor buffer =
        spec.counter()
            ? device.empty(torch.ScalarType.Long, shape)
            : statistics.narrow(0, offset, spec.shape().elements()).view(shape);
    return buffer.fill_(new Scalar(spec.initial()));
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
    TensorScope.free(statistics);
  }
}
