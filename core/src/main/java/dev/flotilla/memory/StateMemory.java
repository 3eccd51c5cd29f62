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

  /**
   * Begins beside the device and moves what finds room on it: a step needs more than its state, so
   * this is known after the first one only.
   */
  record SpilledState(StateMemory beside) implements StateMemory {

    /** What is left free, for passes that need more than the first ones. */
    private static final double MARGIN = 0.1;

    @Override
    public ComputeDevice device() {
      return beside.device();
    }

    @Override
    public List<Tensor> zeros(Precision precision, List<Long> lengths) {
      return beside.zeros(precision, lengths);
    }

    @Override
    public Tensor settle(Tensor tensor) {
      if (tensor.nbytes() > room()) {
        return tensor;
      }
      try (var _ = TensorScope.open()) {
        var here = device().empty(tensor.scalar_type(), tensor.numel());
        here.copy_(tensor);
        TensorScope.free(tensor);
        return TensorScope.keep(here);
      }
    }

    private long room() {
      if (!device().isCuda()) {
        return (long) ((1 - MARGIN) * ProcessMemory.roomBytes());
      }
      var memory = new DeviceMemory(device());
      // Live tensors count on top of a peak that they were no part of.
      long most = Math.max(memory.peakBytes(), memory.peakReservedBytes());
      return (long) ((1 - MARGIN) * memory.limitBytes()) - most;
    }

    @Override
    public void close() {
      beside.close();
    }
  }
}
