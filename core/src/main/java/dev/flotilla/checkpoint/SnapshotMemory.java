package dev.flotilla.checkpoint;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Native memory that holds copies of tensors while they are written, used again by the next save.
 *
 * <p>Takes as much as the state itself, from the first save to the end of the run.
 */
final class SnapshotMemory implements AutoCloseable {

  private record Block(Arena arena, MemorySegment memory) {}

  private final List<Block> blocks = new ArrayList<>();
  private int used;

  /** Makes all memory available again; copies made before are void. */
  void rewind() {
    used = 0;
  }

  LiveTensor copy(LiveTensor live) {
    var block = next(live.bytes());
    block.memory().copyFrom(live.memory());
    return new LiveTensor(live.name(), live.type(), live.shape(), block.memory());
  }

  private Block next(long bytes) {
    if (used < blocks.size() && blocks.get(used).memory().byteSize() == bytes) {
      return blocks.get(used++);
    }
    var arena = Arena.ofShared();
    var block = new Block(arena, arena.allocate(bytes, 64));
    if (used < blocks.size()) {
      blocks.set(used, block).arena().close();
    } else {
      blocks.add(block);
    }
    used++;
    return block;
  }

  @Override
  public void close() {
    blocks.forEach(block -> block.arena().close());
    blocks.clear();
  }
}
