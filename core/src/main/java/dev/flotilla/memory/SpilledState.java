package dev.flotilla.memory;

import java.util.List;
import org.bytedeco.pytorch.Tensor;

/**
 * Begins beside the device and moves what finds room on it: a step needs more than its state, so
 * that is known after the first one only.
 */
final class SpilledState implements StateMemory {

  /** What is left free, for passes that need more than the first ones. */
  private static final double MARGIN = 0.1;

  private static final long UNKNOWN = -1;

  private final StateMemory beside;
  private long room;

  SpilledState(StateMemory beside) {
    this(beside, UNKNOWN);
  }

  /** Takes a number of bytes that may move to the device. */
  SpilledState(StateMemory beside, long room) {
    this.beside = beside;
    this.room = room;
  }

  @Override
  public ComputeDevice device() {
    return beside.device();
  }

  @Override
  public List<Tensor> zeros(Precision precision, List<Long> lengths) {
    return beside.zeros(precision, lengths);
  }

  /** What has moved is not counted by the allocator alone: it may lie where passes have been. */
  @Override
  public Tensor settle(Tensor tensor) {
    if (room == UNKNOWN) {
      room = Math.max(0, besidePasses());
    }
    if (tensor.nbytes() > room) {
      return tensor;
    }
    room -= tensor.nbytes();
    try (var _ = TensorScope.open()) {
      var here = device().empty(tensor.scalar_type(), tensor.numel());
      here.copy_(tensor);
      TensorScope.free(tensor);
      return TensorScope.keep(here);
    }
  }

  /** Returns what passes like those before leave of the device. */
  private long besidePasses() {
    if (device().isCuda()) {
      var memory = new DeviceMemory(device());
      return (long) ((1 - MARGIN) * memory.limitBytes()) - memory.peakReservedBytes();
    }
    long givenBack = ProcessMemory.peakResidentBytes() - ProcessMemory.residentBytes();
    return (long) ((1 - MARGIN) * ProcessMemory.roomBytes()) - givenBack;
  }

  @Override
  public void close() {
    beside.close();
  }
}
