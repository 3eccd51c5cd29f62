package dev.flotilla.memory;

import java.lang.foreign.MemorySegment;
import org.bytedeco.pytorch.Tensor;

/** Views of a CPU tensor's memory for Java code. */
public final class NativeView {

  private NativeView() {}

  /**
   * Returns the memory of a dense CPU tensor. The view is valid as long as the tensor's storage; it
   * does not keep it alive.
   */
  public static MemorySegment of(Tensor tensor) {
    if (!tensor.is_contiguous() || tensor.is_cuda()) {
      throw new IllegalArgumentException("only dense CPU tensors can be viewed from Java");
    }
    long bytes = tensor.numel() * tensor.element_size();
    if (bytes == 0) { // An empty tensor has no address.
      return MemorySegment.NULL;
    }
    return MemorySegment.ofAddress(tensor.data_ptr().address()).reinterpret(bytes);
  }
}
