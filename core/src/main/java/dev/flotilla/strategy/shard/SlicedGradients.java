package dev.flotilla.strategy.shard;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Slot;
import dev.flotilla.arena.Totals;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.exchange.BucketPlan;
import dev.flotilla.exchange.GradientSlices;
import dev.flotilla.exchange.GradientView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.optim.ParameterGroup.Slice;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;

/**
 * The gradients of which each rank holds its slices: what concerns all of them is agreed on by one
 * small collective.
 */
final class SlicedGradients implements GradientSlices, GradientView {

  private final Gradients gradients;
  private final Slicing slicing;
  private final List<Slice> own;
  private final Collective collective;

  SlicedGradients(Gradients gradients, Slicing slicing, List<Slice> own, Collective collective) {
    this.gradients = gradients;
    this.slicing = slicing;
    this.own = own;
    this.collective = collective;
  }

  /** Units leave as soon as backward has filled them. */
  @Override
  public BucketPlan plan() {
    var units = cut(BucketPlan.whole(gradients.layout()).buckets());
    return new BucketPlan() {
      @Override
      public List<Bucket> buckets() {
        return units;
      }

      @Override
      public boolean overlapsBackward() {
        return true;
      }
    };
  }

  /**
   * A unit goes with the bucket of its first element, which is the last of it to be complete;
   * buckets hold no more than the largest unit may, so that little is received at once.
   */
  @Override
  public List<Bucket> cut(List<Bucket> planned) {
    return slicing.buckets(gradients.layout(), planned);
  }

  @Override
  public boolean reducesEachMicroStep() {
    return gradients.kept().isPresent();
  }

  @Override
  public GradientView view() {
    return this;
  }

  @Override
  public double norm() {
    double squares = 0;
    for (var slice : own) {
      try (var norm = slice.gradient().norm()) {
        squares += Math.pow(norm.item_double(), 2);
      }
    }
    return Math.sqrt(over(squares, Reduction.SUM));
  }

  @Override
  public double limit(double ofMean) {
    return ofMean;
  }

  @Override
  public void scale(double by) {
    own.forEach(slice -> Tensors.scale(slice.gradient(), by));
  }

  @Override
  public void limitEach(double most) {
    own.forEach(slice -> Tensors.limit(slice.gradient(), most));
  }

  @Override
  public boolean isFinite() {
    boolean isOwn = own.stream().allMatch(slice -> Gradients.isFinite(slice.gradient()));
    return over(isOwn ? 0 : 1, Reduction.MAX) == 0;
  }

  @Override
  public void clear(Slot slot) {
    try (var _ = TensorScope.open()) {
      inside(slot).forEach(Tensor::zero_);
    }
  }

  @Override
  public boolean isZero(Slot slot) {
    double most = 0;
    try (var _ = TensorScope.open()) {
      for (var piece : inside(slot)) {
        most = Math.max(most, piece.abs().max().item_double());
      }
    }
    return over(most, Reduction.MAX) == 0;
  }

  /** Returns what this rank holds of a parameter's gradient. */
  private List<Tensor> inside(Slot slot) {
    List<Tensor> pieces = new ArrayList<>();
    for (var slice : own) {
      var range = new Range(slice.offset(), slice.gradient().numel());
      var piece = slot.range().common(range);
      if (piece.length() > 0) {
        pieces.add(piece.of(slice.gradient(), slice.offset()));
      }
    }
    return pieces;
  }

  private double over(double number, Reduction reduction) {
    try (var _ = TensorScope.open()) {
      var all = Tensors.ofDoubles(number);
      collective.allReduce(all, reduction, Traffic.SCALAR).await();
      return all.item_double();
    }
  }

  @Override
  public Totals totals() {
    return gradients.totals();
  }

  @Override
  public double lossSum() {
    return gradients.lossSum();
  }
}
