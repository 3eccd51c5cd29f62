package dev.flotilla.strategy.ema;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.memory.TensorScope;
import java.util.function.BiConsumer;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;

/**
 * A flat part of the weights and its average, in the same kind of memory.
 *
 * @param range where it lies in its arena
 * @param live the weights; a view
 * @param average their average
 */
record AveragedSlice(Range range, Tensor live, Tensor average) implements AutoCloseable {

  /** Both fit into a core's cache; a device has none to keep to. */
  private static final long PIECE = 1 << 17;

  private static final long DEVICE_PIECE = 1 << 26;

  /**
   * Copies the weights of now.
   *
   * @param live kept until this is closed
   */
  static AveragedSlice of(Range range, Tensor live) {
    try (var _ = TensorScope.open()) {
      return new AveragedSlice(range, TensorScope.keep(live), TensorScope.keep(live.clone()));
    }
  }

  /** Takes the weights of now into the average. */
  void add(double decay) {
    if (decay == 0) {
      average.copy_(live);
      return;
    }
    try (var _ = TensorScope.open()) {
      var factor = new Scalar(decay);
      inPieces((now, mean) -> mean.sub_(now).mul_(factor).add_(now));
    }
  }

  /** Exchanges weights and average. */
  void swap() {
    inPieces(
        (now, mean) -> {
          var kept = now.clone();
          now.copy_(mean);
          mean.copy_(kept);
        });
  }

  private void inPieces(BiConsumer<Tensor, Tensor> action) {
    long most = live.is_cuda() ? DEVICE_PIECE : PIECE;
    for (long from = 0; from < range.length(); from += most) {
      long length = Math.min(most, range.length() - from);
      try (var _ = TensorScope.open()) {
        action.accept(live.narrow(0, from, length), average.narrow(0, from, length));
      }
    }
  }

  /**
   * Takes over what another tensor holds of this part.
   *
   * @param values the elements of a range
   */
  void take(Range other, Tensor values) {
    var common = other.common(range);
    if (common.length() > 0) {
      common.of(average, range.offset()).copy_(common.of(values, other.offset()));
    }
  }

  @Override
  public void close() {
    TensorScope.free(average);
    TensorScope.free(live);
  }
}
