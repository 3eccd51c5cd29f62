package dev.flotilla.memory;

import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Memory that is had in blocks and handed out in pieces.
 *
 * <p>Blocks are powers of two, as the allocator of pinned memory would round them up to one, and
 * grow from 1 MB to 256 MB, so that a small model takes little.
 */
final class BlockState implements StateMemory {

  private static final long FIRST = 1L << 20;
  private static final long LAST = 1L << 28;
  private static final long ALIGNMENT = 64;

  /** Where blocks come from. */
  interface Source extends AutoCloseable {

    /** Returns so many bytes, all zero; they are valid until the source is closed. */
    Tensor block(long bytes);

    @Override
    void close();
  }

  private final ComputeDevice device;
  private final Source source;
  private final List<Tensor> blocks = new ArrayList<>();
  private @Nullable Tensor open;
  private long next = FIRST;
  private long used;

  BlockState(ComputeDevice device, Source source) {
    this.device = device;
    this.source = source;
  }

  @Override
  public ComputeDevice device() {
    return device;
  }

  @Override
  public List<Tensor> zeros(Precision precision, List<Long> lengths) {
    List<Tensor> pieces = new ArrayList<>();
    for (long length : lengths) {
      try (var _ = TensorScope.open()) {
        var bytes = piece(length * precision.bytes());
        pieces.add(TensorScope.keep(bytes.view(precision.scalarType())));
      }
    }
    return pieces;
  }

  private Tensor piece(long bytes) {
    if (open == null || used + bytes > open.numel()) {
      open = source.block(size(bytes));
      blocks.add(open);
      used = 0;
    }
    long at = used;
    used += Math.ceilDiv(bytes, ALIGNMENT) * ALIGNMENT;
    return open.narrow(0, at, bytes);
  }

  private long size(long bytes) {
    long block = next;
    next = Math.min(LAST, 2 * next);
    while (block < bytes) {
      block *= 2;
    }
    return block;
  }

  @Override
  public void close() {
    blocks.forEach(TensorScope::free);
    blocks.clear();
    source.close();
  }
}
