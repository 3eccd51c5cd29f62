package dev.flotilla.strategy.compress;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.LongStream;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Messages of all ranks in main memory.
 *
 * @param own this rank's message
 * @param all room for the messages of all ranks
 * @param ownBytes the memory of {@code own}
 * @param bytesOf the memory of each rank's message
 */
record HostMessages(Tensor own, Tensor all, ByteBuffer ownBytes, List<ByteBuffer> bytesOf) {

  /** Makes room for messages of so many words. */
  static HostMessages of(int words, int ranks) {
    try (var _ = TensorScope.open()) {
      var own = TensorScope.keep(Tensors.zeros(torch.ScalarType.Int, words));
      var all = TensorScope.keep(Tensors.zeros(torch.ScalarType.Int, (long) words * ranks));
      long bytes = (long) words * Integer.BYTES;
      var memory = NativeView.of(all);
      var bytesOf =
          LongStream.range(0, ranks)
              .mapToObj(rank -> buffer(memory.asSlice(rank * bytes, bytes)))
              .toList();
      return new HostMessages(own, all, buffer(NativeView.of(own)), bytesOf);
    }
  }

  private static ByteBuffer buffer(MemorySegment memory) {
    return memory.asByteBuffer().order(ByteOrder.nativeOrder());
  }

  void free() {
    TensorScope.free(own);
    TensorScope.free(all);
  }
}
