package dev.flotilla.collective;

import dev.flotilla.memory.TensorScope;
import org.bytedeco.pytorch.Tensor;

/**
 * Sums float32 tensors over ranks with 16 bits per number on the wire.
 *
 * <p>Gloo would add halves as halves (2048 + 1 = 2048). Here each rank gets one slice from all
 * others, adds in float32 in the order of ranks, and sends the sum to all: the bytes of an
 * all-reduce in half the size, 2 (n − 1) / n · 2 bytes per number. Numbers are rounded twice, once
 * before and once after the sum, and all ranks end with the same bits.
 *
 * <p>Long tensors go in chunks: while one is on the wire, the one before is added up.
 */
public final class HalfSum implements AutoCloseable {

  /** Numbers per chunk: enough for a link to come up to speed, little against a cache. */
  static final long CHUNK = 1 << 22;

  private final Collective collective;
  private final HalfChunk[] chunks = new HalfChunk[2];

  /**
   * Prepares sums.
   *
   * @param longest numbers of the longest tensor to come
   */
  public HalfSum(Collective collective, Wire wire, long longest) {
    this.collective = collective;
    for (int i = 0; i < chunks.length; i++) {
      chunks[i] = new HalfChunk(collective, wire, Math.min(CHUNK, longest));
    }
  }

  /** Replaces a dense float32 tensor by the sum over ranks. */
  public void sum(Tensor values, Traffic traffic) {
    if (collective.size() == 1 || values.numel() == 0) {
      return;
    }
    try (var _ = TensorScope.open()) {
      var all = values.view(-1);
      long count = (all.numel() + CHUNK - 1) / CHUNK;
      at(0).scatter(part(all, 0), traffic);
      for (long i = 0; i < count; i++) {
        if (i > 0) {
          at(i - 1).receive();
        }
        if (i + 1 < count) {
          at(i + 1).scatter(part(all, i + 1), traffic);
        }
        at(i).addUp(traffic);
      }
      at(count - 1).receive();
    }
  }

  private HalfChunk at(long index) {
    return chunks[(int) (index % chunks.length)];
  }

  private static Tensor part(Tensor all, long index) {
    long from = index * CHUNK;
    return all.narrow(0, from, Math.min(CHUNK, all.numel() - from));
  }

  @Override
  public void close() {
    for (var chunk : chunks) {
      chunk.close();
    }
  }
}
