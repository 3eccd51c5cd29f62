package dev.flotilla.memory;

import java.util.concurrent.atomic.AtomicLong;
import org.bytedeco.javacpp.LongPointer;
import org.bytedeco.pytorch.cuda.DeviceAssertionsDataVectorCUDAKernelLaunchInfoVectorPair;
import org.bytedeco.pytorch.cuda.StreamFilter;
import org.bytedeco.pytorch.global.torch_cuda;

/**
 * The memory that a recorded graph works in: a pool of libtorch's allocator that nobody else gets
 * memory from, until it is closed.
 */
final class GraphMemory implements AutoCloseable {

  /** libtorch's own pools have a zero in one of their two numbers. */
  private static final long NOT_LIBTORCHS = 1L << 40;

  private static final AtomicLong MADE = new AtomicLong();

  private final byte device;
  private final LongPointer numbers;

  /** The binding has this type for the pair of numbers that names a pool. */
  private final DeviceAssertionsDataVectorCUDAKernelLaunchInfoVectorPair name;

  private boolean isUsed;

  GraphMemory(ComputeDevice device) {
    this(device, 1);
  }

  /** Names one for a graph of libtorch's own class, which takes it and gives it back. */
  static GraphMemory besideAnother(ComputeDevice device) {
    return new GraphMemory(device, 0);
  }

  private GraphMemory(ComputeDevice device, long second) {
    this.device = (byte) device.index();
    try (var _ = TensorScope.open()) {
      numbers = TensorScope.keep(new LongPointer(2));
      numbers.put(0, NOT_LIBTORCHS + MADE.incrementAndGet()).put(1, second);
      name =
          TensorScope.keep(new DeviceAssertionsDataVectorCUDAKernelLaunchInfoVectorPair(numbers));
    }
  }

  long first() {
    return numbers.get(0);
  }

  long second() {
    return numbers.get(1);
  }

  /** Takes from now on what a filter lets through. */
  void takeFor(StreamFilter filter) {
    torch_cuda.beginAllocateToPool(device, name, filter);
    isUsed = true;
  }

  /** Takes no more. */
  void isTaken() {
    torch_cuda.endAllocateToPool(device, name);
  }

  /** Gives the memory back. */
  @Override
  public void close() {
    if (isUsed) {
      var allocator = torch_cuda.getAllocator();
      allocator.releasePool(device, name);
      allocator.emptyCache(name);
    }
    free();
  }

  /** Frees the name alone. */
  void free() {
    TensorScope.free(name);
    TensorScope.free(numbers);
  }
}
