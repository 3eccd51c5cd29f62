package dev.flotilla.zoo.model;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.zoo.model.AddedNorm.Result;
import dev.flotilla.zoo.model.ColumnKernels.Summed;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Between a sum and the norm that follows it, two functions in libtorch's graph whose kernels run
 * as one: forward when the sum is made, backward when the norm's gradient is.
 */
final class NormLink {

  private final Result result;
  private final Draws draws;
  private @Nullable Tensor ofSum;
  private long version;
  private @Nullable Summed ofAdded;
  private boolean isKept;

  /**
   * Starts from what forward has made.
   *
   * @param result the sum and its norm, which belong to whoever has made the sum
   * @param draws what dropout has kept of what was added
   */
  NormLink(Result result, Draws draws) {
    this.result = result;
    this.draws = draws;
  }

  Result result() {
    return result;
  }

  Draws draws() {
    return draws;
  }

  /**
   * Keeps what forward has made until it is let go: for a sum without a graph, whose next part may
   * know it by another handle.
   */
  void keep() {
    isKept = true;
    all().forEach(TensorScope::keep);
  }

  /** Lets go what was kept, at the end of the innermost scope. */
  void release() {
    if (isKept) {
      isKept = false;
      all().forEach(TensorScope::adopt);
    }
  }

  private List<Tensor> all() {
    return List.of(result.sum(), result.whole(), result.copy(), result.make());
  }

  /** Tells whether it is that of a sum: the same handle, or the same memory while that is kept. */
  @SuppressWarnings("ReferenceEquality")
  boolean isOf(Tensor sum) {
    if (!isKept) {
      return result.sum() == sum;
    }
    try (var own = result.sum().data_ptr();
        var other = sum.data_ptr()) {
      return own.address() == other.address() && result.sum().numel() == sum.numel();
    }
  }

  /** Leaves what the norm's backward has found. */
  void leave(Tensor gradient, Summed added) {
    ofSum = TensorScope.keep(new Tensor(gradient));
    version = gradient._version();
    TensorScope.keep(added.whole());
    TensorScope.keep(added.sums());
    ofAdded = added;
  }

  /** Takes the gradient of what was added, if it is the one that belongs to this of the sum. */
  @Nullable Summed take(Tensor gradient) {
    var left = ofAdded;
    var of = ofSum;
    ofAdded = null;
    ofSum = null;
    if (left == null || of == null) {
      return null;
    }
    // Another contribution may have been added to it.
    boolean isSame = of.is_same(gradient) && gradient._version() == version;
    TensorScope.free(of);
    TensorScope.adopt(left.whole());
    TensorScope.adopt(left.sums());
    return isSame ? left : null;
  }

  /** Frees what the norm's backward has left, if nobody has taken it. */
  void drop() {
    var left = ofAdded;
    TensorScope.free(ofSum);
    if (left != null) {
      TensorScope.free(left.whole());
      TensorScope.free(left.sums());
    }
    ofAdded = null;
    ofSum = null;
  }
}
