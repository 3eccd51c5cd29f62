package dev.flotilla.memory;

import java.lang.foreign.MemorySegment;
import org.bytedeco.pytorch.Tensor;

/**
 * Copies between a CUDA device and pinned main memory that run beside the kernels, one after the
 * other in the order in which they are asked for.
 *
 * <p>Not thread-safe.
 */
public final class HostCopies implements AutoCloseable {

  private final ComputeDevice device;
  private final DeviceMark started;
  private final PinnedBlocks blocks = new PinnedBlocks();
  private MemorySegment stream = MemorySegment.NULL;

  /** Makes no copies yet; nothing is created before the first. */
  public HostCopies(ComputeDevice device) {
    this.device = device;
    this.started = new DeviceMark(device);
  }

  /** Returns pinned memory that copies can go to and come from, the caller's to free. */
  public Tensor block(long bytes) {
    return blocks.block(bytes);
  }

  /**
   * Starts to copy a tensor as soon as what was started on the device so far is done.
   *
   * @param tensor without gaps; stays as it is until the copy is done
   * @param block takes it
   * @return what the copy is done at, the caller's to close
   */
  public DeviceMark away(Tensor tensor, Tensor block) {
    begin();
    driver()
        .call(
            "cuMemcpyDtoHAsync_v2", at(block), tensor.data_ptr().address(), bytes(tensor), stream);
    return done();
  }

  /** Starts to copy a tensor back: see {@link #away}. */
  public DeviceMark back(Tensor block, Tensor tensor) {
    begin();
    driver()
        .call(
            "cuMemcpyHtoDAsync_v2", tensor.data_ptr().address(), at(block), bytes(tensor), stream);
    return done();
  }

  private void begin() {
    if (stream.equals(MemorySegment.NULL)) {
      stream = GraphRecorder.newStream(device);
    }
    started.set();
    started.holdBack(stream);
  }

  private DeviceMark done() {
    var done = new DeviceMark(device);
    done.set(stream);
    return done;
  }

  private static MemorySegment at(Tensor block) {
    return MemorySegment.ofAddress(block.data_ptr().address());
  }

  private static long bytes(Tensor tensor) {
    return tensor.numel() * tensor.element_size();
  }

  private static NativeLibrary driver() {
    return NativeLibrary.find("libcuda.so.1").orElseThrow();
  }

  /** Waits until all copies are done. */
  public void await() {
    if (!stream.equals(MemorySegment.NULL)) {
      device.makeCurrent();
      driver().call("cuStreamSynchronize", stream);
    }
  }

  @Override
  public void close() {
    await();
    started.close();
    if (!stream.equals(MemorySegment.NULL)) {
      driver().call("cuStreamDestroy_v2", stream);
      stream = MemorySegment.NULL;
    }
  }
}
