package dev.flotilla.memory;

import org.bytedeco.pytorch.BoolOptional;
import org.bytedeco.pytorch.MemoryFormatOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.global.torch;

/** Memory of the host that a GPU reads and writes by itself. */
final class PinnedBlocks implements BlockState.Source {

  @Override
  public Tensor block(long bytes) {
    try (var _ = TensorScope.open()) {
      var options = new TensorOptions(torch.ScalarType.Byte).pinned_memory(new BoolOptional(true));
      var block = torch.empty(new long[] {bytes}, options, new MemoryFormatOptional());
      return TensorScope.keep(block.zero_());
    }
  }

  @Override
  public void close() {}
}
