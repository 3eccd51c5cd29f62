package dev.flotilla.memory;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Memory for what a rank keeps between updates: that of the device which computes, or a larger and
 * slower one beside it.
 */
public interface StateMemory extends AutoCloseable {

  /** Returns memory of the device itself. */
  static StateMemory on(ComputeDevice device) {
    return new DeviceState(device);
  }

  /**
   * Returns memory beside a device: pinned memory of the host for a GPU, a file that is mapped into
   * memory for a CPU.
   *
   * @param folder where such a file lies, or null for the usual place
   */
  static StateMemory beside(ComputeDevice device, @Nullable Path folder) {
    return device.isCuda()
        ? new BlockState(device, new PinnedBlocks())
        : new BlockState(device, new MappedBlocks(folder));
  }

  /** Returns memory beside a device for as much as the device has no room for. */
  static StateMemory beyond(ComputeDevice device, @Nullable Path folder) {
    return new SpilledState(beside(device, folder));
  }

  /** Returns where the tensors are computed with. */
  ComputeDevice device();

  /** Returns flat tensors of zeros; the caller frees them before this memory is closed. */
  List<Tensor> zeros(Precision precision, List<Long> lengths);

  /**
   * Finds the place in which a tensor of this memory stays, once a first window has shown how much
   * room its passes leave: itself, or a copy on the device, for which the tensor is freed.
   */
  default Tensor settle(Tensor tensor) {
    return tensor;
  }

  @Override
  default void close() {}

  /** The device's own memory: neighbours lie behind each other. */
  record DeviceState(ComputeDevice device) implements StateMemory {

    @Override
    public List<Tensor> zeros(Precision precision, List<Long> lengths) {
      List<Tensor> pieces = new ArrayList<>();
      try (var _ = TensorScope.open()) {
        var all =
            device.zeros(precision.scalarType(), lengths.stream().mapToLong(Long::longValue).sum());
        long at = 0;
        for (long length : lengths) {
          pieces.add(TensorScope.keep(all.narrow(0, at, length)));
          at += length;
        }
      }
      return pieces;
    }
  }
}
