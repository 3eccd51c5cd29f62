package dev.flotilla.strategy.compress;

import dev.flotilla.memory.TensorScope;
import org.bytedeco.pytorch.LongOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Chooses the entries of a bucket on a device that are sent, by the rules of {@link Selector}: of
 * those above the last step's threshold the k largest, with a new threshold from a sample when it
 * keeps too many or too few, and by sorting out all when that fails twice.
 *
 * <p>Sizes are taken in pieces that stay in the device's cache, so that a scan reads the residuals
 * once.
 */
final class DeviceSelector implements AutoCloseable {

  private static final long PIECE = 1 << 23;

  private final Selector.Bounds bounds;
  private final Tensor residual;
  private final long elements;
  private final Tensor isAbove;
  private final Tensor sizes;
  private int next = Selector.NO_THRESHOLD;

  DeviceSelector(Selection selection, Tensor residual, long elements) {
    this.bounds = new Selector.Bounds(selection);
    this.residual = residual;
    this.elements = elements;
    try (var _ = TensorScope.open()) {
      isAbove = TensorScope.keep(residual.gt(new Scalar(0.0)));
      sizes = TensorScope.keep(residual.new_zeros(Math.min(PIECE, residual.numel())));
    }
  }

  /** Returns the threshold for the next step. */
  int next() {
    return next;
  }

  /**
   * Returns the places of at most k entries, ascending.
   *
   * @param threshold what the step before has left
   */
  Tensor choose(int k, int threshold) {
    try (var scope = TensorScope.open()) {
      int used = threshold;
      var found = scan(used);
      for (int samples = 0; !bounds.suffice(found.numel(), elements, k, used); samples++) {
        if (samples == Selector.SAMPLES) {
          return scope.handOut(exactly(k));
        }
        used = sample(k);
        found = scan(used);
      }
      return scope.handOut(narrow(found, k, used));
    }
  }

  private Tensor scan(int threshold) {
    var limit = new Scalar((double) Float.intBitsToFloat(threshold));
    for (long from = 0; from < residual.numel(); from += PIECE) {
      try (var _ = TensorScope.open()) {
        long length = Math.min(PIECE, residual.numel() - from);
        var size = sizes.narrow(0, 0, length);
        torch.abs_out(size, residual.narrow(0, from, length));
        torch.gt_out(isAbove.narrow(0, from, length), size, limit);
      }
    }
    return isAbove.nonzero().view(-1);
  }

  private int sample(int k) {
    try (var _ = TensorScope.open()) {
      long stride = Sample.stride(elements);
      var taken =
          residual.slice(0, new LongOptional(), new LongOptional(), stride).abs().sort(0, true);
      long count = taken.get0().numel();
      long rank = Sample.rank(Selector.wanted(k), count, elements);
      return Math.max(0, key(taken.get0(), rank - 1) - 1);
    }
  }

  private static int key(Tensor sorted, long at) {
    return TopKeys.key((float) sorted.narrow(0, at, 1).item_double());
  }

  /** Of what was found the k largest, in their order. */
  private Tensor narrow(Tensor found, int k, int threshold) {
    long count = found.numel();
    if (count <= k) {
      next = Selector.lowered(threshold, count < k);
      return found;
    }
    var sorted = residual.index_select(0, found).abs().sort(0, true);
    long wanted = Selector.wanted(k);
    next =
        count >= wanted
            ? Math.max(0, key(sorted.get0(), wanted - 1) - 1)
            : Selector.lowered(threshold, false);
    var largest = sorted.get1().narrow(0, 0, k).sort(0, false).get0();
    return found.index_select(0, largest);
  }

  private Tensor exactly(int k) {
    var top = residual.abs().topk(k, 0, true, true);
    next = Selector.lowered(key(top.get0(), k - 1), false);
    long some = top.get0().gt(new Scalar(0.0)).sum().item_long();
    return top.get1().narrow(0, 0, some).sort(0, false).get0();
  }

  @Override
  public void close() {
    TensorScope.free(isAbove);
    TensorScope.free(sizes);
  }
}
