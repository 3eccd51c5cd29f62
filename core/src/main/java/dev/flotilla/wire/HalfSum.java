package dev.flotilla.wire;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import org.bytedeco.pytorch.Tensor;

/**
 * Sums float32 tensors over ranks with 16 bits per number on the wire.
 *
 * <p>Gloo would add halves as halves (2048 + 1 = 2048). A {@link CodedSum} adds in float32 and
 * sends the bytes of an all-reduce in half the size, 2 (n − 1) / n · 2 bytes per number. Numbers
 * are rounded twice, once before and once after the sum.
 *
 * <p>Tensors go in chunks: while one is on the wire, the one before is added up.
 */
public final class HalfSum implements AutoCloseable {

  /** Numbers per chunk: enough for a link to come up to speed, little against a cache. */
  static final long CHUNK = 1 << 22;

  private final Collective collective;
  private final CodedSum[] chunks = new CodedSum[2];
  private long added;

  /**
   * Prepares sums.
   *
   * @param dtype bf16 or fp16
   * @param longest numbers of the longest tensor to come
   */
  public HalfSum(Collective collective, Dtype dtype, long longest) {
    this.collective = collective;
    for (int i = 0; i < chunks.length; i++) {
      chunks[i] = new CodedSum(collective, new HalfCodec(dtype), Math.min(CHUNK, longest));
    }
  }

  /** Replaces a dense float32 tensor by the sum over ranks. */
  public void sum(Tensor values, Traffic traffic) {
    add(values, traffic);
    finish(traffic);
  }

  /**
   * Starts to replace a dense float32 tensor by the sum over ranks. It may still be under way when
   * further ones are added, and is there after {@link #finish}.
   */
  public void add(Tensor values, Traffic traffic) {
    if (collective.size() == 1 || values.numel() == 0) {
      return;
    }
    try (var _ = TensorScope.open()) {
      var all = values.view(-1);
      for (long from = 0; from < all.numel(); from += CHUNK) {
        add(from, all, traffic);
      }
    }
  }

  /** Of three chunks, one comes back, one is added up, and one sets out. */
  private void add(long from, Tensor all, Traffic traffic) {
    if (added > 1) {
      at(added - 2).receive();
    }
    at(added).scatter(all.narrow(0, from, Math.min(CHUNK, all.numel() - from)), traffic);
    if (added > 0) {
      at(added - 1).addUp(1, traffic);
    }
    added++;
  }

  /** Waits for all sums that were started. */
  public void finish(Traffic traffic) {
    try (var _ = TensorScope.open()) {
      if (added > 1) {
        at(added - 2).receive();
      }
      if (added > 0) {
        at(added - 1).addUp(1, traffic);
        at(added - 1).receive();
      }
    } finally {
      added = 0;
    }
  }

  private CodedSum at(long index) {
    return chunks[(int) (index % chunks.length)];
  }

  @Override
  public void close() {
    for (var chunk : chunks) {
      chunk.close();
    }
  }
}
