package dev.flotilla.strategy.compress;

import dev.flotilla.memory.TensorScope;
import org.bytedeco.pytorch.LongOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.ScalarOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the entries of a bucket on a device that are sent, by the rules of {@link Selector}: of
 * those above the last step's threshold the k largest, with a new threshold from a sample when it
 * keeps too many or too few, and by sorting out all when that fails twice.
 *
 * <p>A scan reads the residuals once, for the largest of each row of some neighbours; only rows
 * whose largest exceeds the threshold are looked at again.
 */
final class DeviceSelector implements AutoCloseable {

  /** Few enough for few rows to have one, and enough for a kernel to read at full speed. */
  private static final long ROW = 256;

  private final Selection selection;
  private final Tensor residual;
  private final Tensor rows;
  private final Tensor rest;
  private final long elements;
  private int next = Selector.NO_THRESHOLD;

  DeviceSelector(Selection selection, Tensor residual, long elements) {
    this.selection = selection;
    this.residual = residual;
    this.elements = elements;
    try (var _ = TensorScope.open()) {
      long inRows = residual.numel() / ROW * ROW;
      rows = TensorScope.keep(residual.narrow(0, 0, inRows).view(-1, ROW));
      rest = TensorScope.keep(residual.narrow(0, inRows, residual.numel() - inRows));
    }
  }

  /** Returns the threshold for the next step. */
  int next() {
    return next;
  }

  /**
   * Returns the indices of at most k entries, ascending.
   *
   * @param threshold what the step before has left
   * @param above the indices above it, ascending; null where nobody has looked
   */
  Tensor choose(int k, int threshold, @Nullable Tensor above) {
    try (var scope = TensorScope.open()) {
      int used = threshold;
      var found = above == null ? scan(k, used) : above;
      for (int samples = 0; !suffices(found.numel(), k, used); samples++) {
        if (samples == Selector.SAMPLES) {
          return scope.handOut(exactly(k));
        }
        used = sample(k);
        found = scan(k, used);
      }
      return scope.handOut(narrow(found, k, used));
    }
  }

  private boolean suffices(long count, int k, int threshold) {
    return count <= Selector.MOST * k && Selector.suffice(selection, count, k, threshold);
  }

  private Tensor scan(int k, int threshold) {
    var limit = new Scalar((double) Float.intBitsToFloat(threshold));
    // With many to find, most rows have one.
    boolean looksAtAll = Selector.wanted(k) * ROW > elements;
    return looksAtAll ? placesAbove(residual, limit) : scanRows(limit);
  }

  private static Tensor placesAbove(Tensor row, Scalar limit) {
    return row.abs().gt(limit).nonzero().view(-1);
  }

  private Tensor scanRows(Scalar limit) {
    var largest = rows.norm(new ScalarOptional(new Scalar(Double.POSITIVE_INFINITY)), 1);
    var some = largest.gt(limit).nonzero().view(-1);
    var found = rows.index_select(0, some).abs_().gt(limit).nonzero();
    var inRows =
        some.index_select(0, found.select(1, 0)).mul(new Scalar(ROW)).add(found.select(1, 1));
    var inRest = placesAbove(rest, limit).add(new Scalar(rows.numel()));
    return torch.cat(new TensorVector(inRows, inRest));
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
    var sizes = residual.index_select(0, found).abs_();
    long wanted = Selector.wanted(k);
    next =
        count >= wanted
            ? Math.max(0, TopKeys.key((float) kthLargest(sizes, wanted).item_double()) - 1)
            : Selector.lowered(threshold, false);
    return found.index_select(0, largest(sizes, k, kthLargest(sizes, k)));
  }

  private static Tensor kthLargest(Tensor sizes, long k) {
    return sizes.topk(k, 0, true, false).get0().min();
  }

  /** Returns where the k largest are, ascending; of those as large as the last one, the first. */
  private static Tensor largest(Tensor sizes, int k, Tensor smallest) {
    var indices = sizes.ge(smallest).nonzero().view(-1);
    if (indices.numel() == k) {
      return indices;
    }
    var above = sizes.gt(smallest);
    var equal = sizes.eq(smallest);
    var room = above.sum().neg().add_(new Scalar((long) k));
    var first = equal.logical_and(equal.cumsum(0).le(room));
    return above.logical_or(first).nonzero().view(-1);
  }

  private Tensor exactly(int k) {
    var sizes = residual.abs();
    var smallest = kthLargest(sizes, k);
    int size = TopKeys.key((float) smallest.item_double());
    next = Selector.lowered(size, false);
    return size == 0 ? placesAbove(residual, new Scalar(0.0)) : largest(sizes, k, smallest);
  }

  @Override
  public void close() {
    TensorScope.free(rows);
    TensorScope.free(rest);
  }
}
