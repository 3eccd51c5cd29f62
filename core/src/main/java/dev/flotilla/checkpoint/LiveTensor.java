package dev.flotilla.checkpoint;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.Tensor;

/**
 * A tensor of the running program, seen as named bytes.
 *
 * @param bytes how many there are
 * @param source gives the elements, little-endian and dense; valid as long as the tensor, or as the
 *     caller's scope where they have to be copied
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared; made and read in this package only.
record LiveTensor(
    String name, TensorType type, long[] shape, long bytes, Supplier<MemorySegment> source) {

  /** How much goes to a file or a digest at a time: what stays in the cache between the two. */
  private static final long CHUNK = 1L << 20;

  /** Describes elements that are there. */
  LiveTensor(String name, TensorType type, long[] shape, MemorySegment memory) {
    this(name, type, shape, memory.byteSize(), () -> memory);
  }

  /** Describes a tensor; one on a device is copied into the caller's scope first. */
  static LiveTensor of(String name, Tensor given) {
    if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
      throw new IllegalStateException("tensors are stored on little-endian machines only");
    }
    var tensor = given.defined() ? ComputeDevice.CPU.bring(given) : given;
    try (var _ = TensorScope.open()) {
      requireDense(name, tensor);
      return new LiveTensor(name, type(name, tensor), shape(tensor), NativeView.of(tensor));
    }
  }

  /** Describes all tensors, in the order of their names; each is brought when it is read. */
  static List<LiveTensor> inNameOrder(WeightSource weights) {
    return weights.tensors().entrySet().stream()
        .sorted(Map.Entry.comparingByKey(TensorName.ORDER))
        .map(entry -> later(entry.getKey(), entry.getValue(), weights))
        .toList();
  }

  private static LiveTensor later(String name, Tensor tensor, WeightSource weights) {
    requireDense(name, tensor);
    var type = type(name, tensor);
    return new LiveTensor(
        name,
        type,
        shape(tensor),
        tensor.numel() * type.bytes(),
        () -> {
          weights.bring(name);
          return of(name, tensor).memory();
        });
  }

  /** Returns the elements. */
  MemorySegment memory() {
    return source.get();
  }

  private static void requireDense(String name, Tensor tensor) {
    if (!tensor.defined() || tensor.is_sparse() || !tensor.is_contiguous()) {
      throw new IllegalArgumentException(
          "tensor %s must be defined and dense".formatted(TensorName.quote(name)));
    }
  }

  private static TensorType type(String name, Tensor tensor) {
    var type = tensor.scalar_type().intern();
    return TensorType.of(type)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "tensor %s has type %s, which safetensors files do not hold"
                        .formatted(TensorName.quote(name), type)));
  }

  private static long[] shape(Tensor tensor) {
    return IntStream.range(0, (int) tensor.dim()).mapToLong(tensor::size).toArray();
  }

  /** Hands the bytes to a consumer, in order, without copying them. */
  <X extends Exception> void forEachChunk(ChunkConsumer<X> consumer) throws X {
    try (var _ = TensorScope.open()) {
      var memory = memory();
      for (long from = 0; from < bytes; from += CHUNK) {
        consumer.accept(memory.asSlice(from, Math.min(CHUNK, bytes - from)).asByteBuffer());
      }
    }
  }

  /** Takes some bytes of a tensor. */
  interface ChunkConsumer<X extends Exception> {
    void accept(ByteBuffer bytes) throws X;
  }
}
