package dev.flotilla.exchange;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Slot;
import dev.flotilla.arena.Totals;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.state.RunState;
import java.util.OptionalDouble;
import java.util.function.Supplier;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.ScalarOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * The part of an exchange that lets a rank keep what it does not send, and add it to a later
 * gradient (error feedback; Seide et al., 2014).
 *
 * <p>Nothing that is infinite may get into what a rank keeps, and the count that makes a sum a mean
 * must be known before. So ranks agree on the totals first, and whether all gradients are finite;
 * filters then see the rank's own gradients, and what they multiply by is only noted, for the
 * exchange to apply in its one pass over memory. Where no filter stands in between, and the run
 * ends with the first gradient that is not finite, buckets need not wait for that vote: they leave
 * while backward goes on, and ranks vote at the end.
 *
 * <p>An exchange hands it out by {@link Exchange#feedback}, multiplies gradients by {@link #factor}
 * and calls {@link #remember} with its own state; the rest happens around it.
 */
public final class ErrorFeedback implements AutoCloseable {

  private static final int TOTALS = 3;

  private final Collective collective;
  private final Supplier<OptionalDouble> density;
  private double factor = 1;
  private boolean votesLast;
  private boolean areAllFinite;
  private boolean isSpoilt;
  private @Nullable Tensor trace;
  private @Nullable Tensor ballot;
  private Pending vote = Pending.DONE;

  /** Prepares windows of a group of ranks. */
  public ErrorFeedback(Collective collective) {
    this(collective, OptionalDouble::empty);
  }

  /**
   * Prepares windows of a group of ranks.
   *
   * @param density tells which share of the gradients ranks have sent in the last window
   */
  public ErrorFeedback(Collective collective, Supplier<OptionalDouble> density) {
    this.collective = collective;
    this.density = density;
  }

  /** Returns which share of the gradients ranks have sent in the last window, if it is known. */
  OptionalDouble density() {
    return density.get();
  }

  /** Returns what this rank's gradients have to be multiplied by before they are sent or kept. */
  public double factor() {
    return factor;
  }

  /** Tells whether buckets leave before all gradients of the window are there. */
  public boolean leavesEarly() {
    return votesLast;
  }

  /**
   * Saves, or restores, that nothing is wrong with what the rank keeps.
   *
   * @throws IllegalStateException if it holds the numbers that have ended the run
   */
  public void remember(RunState state) {
    if (state.isSaving() && isSpoilt) {
      throw new IllegalStateException(
          "what this rank keeps holds the numbers that have ended the run, and cannot be saved: go"
              + " on from the checkpoint before");
    }
    isSpoilt = false;
  }

  /**
   * Sums the totals over ranks.
   *
   * @param votesLast whether ranks find out at the end of the window if all gradients are finite,
   *     and not now
   */
  void agree(Gradients gradients, boolean votesLast) {
    this.votesLast = votesLast;
    factor = 1;
    forgetTrace();
    try (var _ = TensorScope.open()) {
      var all = Tensors.zeros(torch.ScalarType.Double, TOTALS + 1);
      var totals = all.narrow(0, 0, TOTALS);
      totals.copy_(gradients.tail());
      var objections = all.narrow(0, TOTALS, 1);
      if (!votesLast && !gradients.isFinite()) {
        objections.add_(Tensors.ofDoubles(1));
      }
      collective.allReduce(all, Reduction.SUM, Traffic.SCALAR).await();
      gradients.tail().copy_(totals);
      areAllFinite = objections.item_double() == 0;
    }
  }

  /** Notes what is not finite in a bucket that leaves early, without waiting for a device. */
  void look(Gradients gradients, Bucket bucket) {
    if (!votesLast) {
      return;
    }
    try (var _ = TensorScope.open()) {
      var largest = new ScalarOptional(new Scalar(Double.POSITIVE_INFINITY));
      var nothing = gradients.part(bucket).norm(largest, 0).mul_(new Scalar(0.0));
      trace = trace == null ? TensorScope.keep(nothing) : trace.add_(nothing);
    }
  }

  /** Starts the vote that is still to come; nothing if it was before. */
  void startVote() {
    if (!votesLast) {
      return;
    }
    boolean isFinite = trace == null || trace.item_double() == 0;
    forgetTrace();
    try (var _ = TensorScope.open()) {
      ballot = TensorScope.keep(Tensors.ofDoubles(isFinite ? 0 : 1));
      vote = collective.allReduce(ballot, Reduction.SUM, Traffic.SCALAR);
    }
  }

  /** Waits for the vote that was started. */
  void endVote() {
    if (ballot == null) {
      return;
    }
    vote.await();
    areAllFinite = ballot.item_double() == 0;
    isSpoilt = !areAllFinite;
    TensorScope.free(ballot);
    ballot = null;
  }

  private void forgetTrace() {
    TensorScope.free(trace);
    trace = null;
  }

  /** Returns this rank's own gradients as filters see them. */
  GradientView view(Gradients gradients) {
    return new OwnGradients(gradients);
  }

  @Override
  public void close() {
    forgetTrace();
    TensorScope.free(ballot);
  }

  private final class OwnGradients implements GradientView {

    private final Gradients gradients;

    OwnGradients(Gradients gradients) {
      this.gradients = gradients;
    }

    @Override
    public double norm() {
      return Math.abs(factor) * gradients.norm();
    }

    @Override
    public double limit(double ofMean) {
      return ofMean / Math.sqrt(collective.size());
    }

    @Override
    public void scale(double by) {
      factor *= by;
    }

    @Override
    public void limitEach(double most) {
      throw new UnsupportedOperationException(
          "what a rank adds to a sum can only be scaled as a whole");
    }

    @Override
    public boolean isFinite() {
      return areAllFinite;
    }

    @Override
    public void clear(Slot slot) {
      gradients.clear(slot);
    }

    @Override
    public boolean isZero(Slot slot) {
      return gradients.isZero(slot);
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
}
