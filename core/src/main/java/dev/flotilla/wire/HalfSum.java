package dev.flotilla.wire;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.bytedeco.pytorch.Tensor;

/**
 * Sums float32 tensors over ranks with 16 bits per number on the wire.
 *
 * <p>Gloo would add halves as halves (2048 + 1 = 2048). A {@link CodedSum} adds in float32 and
 * sends the bytes of an all-reduce in half the size, 2 (n − 1) / n · 2 bytes per number. Numbers
 * are rounded twice, once before and once after the sum.
 *
 * <p>Tensors go in chunks: while one is on the wire, the one before can be added up, and the one
 * before that taken up.
 */
public final class HalfSum implements AutoCloseable {

  /** Numbers per chunk: enough for a link to come up to speed, little against a cache. */
  static final long CHUNK = 1 << 22;

  /** One for each of a chunk's steps. */
  private static final int UNDER_WAY = 3;

  private final Collective collective;
  private final CodedSum[] sums = new CodedSum[UNDER_WAY];
  private int next;

  /**
   * Prepares sums.
   *
   * @param dtype bf16 or fp16
   * @param longest numbers of the longest tensor to come
   */
  public HalfSum(Collective collective, Dtype dtype, long longest) {
    this.collective = collective;
    for (int i = 0; i < sums.length; i++) {
      sums[i] = new CodedSum(collective, new HalfCodec(dtype), Math.min(CHUNK, longest));
    }
  }

  /** Replaces a dense float32 tensor by the sum over ranks, and waits for it. */
  public void sum(Tensor values, Traffic traffic) {
    for (var steps : chunks(() -> values.view(-1), values.numel(), traffic)) {
      for (var step : steps) {
        try (var _ = TensorScope.open()) {
          step.get().await();
        }
      }
    }
  }

  /**
   * Returns what replaces a dense float32 vector by the sum over ranks: the three steps of each
   * chunk, of which one may begin when that before it has been awaited. Chunks begin in their
   * order, and all of one is done before the third after it begins.
   *
   * @param values gives the vector, as often as it is asked for
   * @param length of the vector
   */
  public List<List<Supplier<Pending>>> chunks(
      Supplier<Tensor> values, long length, Traffic traffic) {
    List<List<Supplier<Pending>>> chunks = new ArrayList<>();
    for (long start = 0; start < length && collective.size() > 1; start += CHUNK) {
      long from = start;
      var sum = sums[next];
      next = (next + 1) % sums.length;
      chunks.add(
          List.of(
              () ->
                  sum.scatter(
                      values.get().narrow(0, from, Math.min(CHUNK, length - from)), traffic),
              () -> sum.addUp(1, traffic),
              () -> {
                sum.receive();
                return Pending.DONE;
              }));
    }
    return chunks;
  }

  @Override
  public void close() {
    for (var sum : sums) {
      sum.close();
    }
  }
}
