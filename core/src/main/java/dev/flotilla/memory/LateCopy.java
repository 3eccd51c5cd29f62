package dev.flotilla.memory;

import org.bytedeco.pytorch.Tensor;

/** Copies a few numbers of a device to main memory without waiting for it. */
public final class LateCopy implements AutoCloseable {

  private final Tensor numbers;
  private final Tensor host;
  private final DeviceMark mark;

  /** Takes the numbers, which stay the caller's. */
  public LateCopy(Tensor numbers) {
    this.numbers = numbers;
    this.mark = new DeviceMark(ComputeDevice.of(numbers));
    try (var _ = TensorScope.open()) {
      var zeros = Tensors.zeros(numbers.scalar_type(), numbers.numel());
      // The device itself writes to pinned memory, and nobody waits.
      host = TensorScope.keep(numbers.is_cuda() ? zeros.pin_memory() : zeros);
    }
  }

  /** Starts a copy, in place of the one before. */
  public void start() {
    host.copy_(numbers, true);
    mark.set();
  }

  /** Waits for the copy, and returns it. */
  public Tensor await() {
    mark.await();
    return host;
  }

  @Override
  public void close() {
    mark.await();
    mark.close();
    TensorScope.free(host);
  }
}
