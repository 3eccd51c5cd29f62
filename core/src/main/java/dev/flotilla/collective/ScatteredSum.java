package dev.flotilla.collective;

import dev.flotilla.memory.TensorScope;
import java.util.function.Function;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;

/**
 * The sum of one slice over ranks, from what each rank has sent of it.
 *
 * <p>They are added in the order of ranks, so the bits depend neither on who was quicker nor on
 * where the slice is summed.
 */
final class ScatteredSum {

  private final Tensor sum;
  private final Tensor received;
  private final int ranks;
  private boolean isDone;

  private ScatteredSum(Tensor sum, int ranks) {
    this.ranks = ranks;
    try (var _ = TensorScope.open()) {
      // A view of its own: the caller's may be gone when the sum is awaited.
      this.sum = TensorScope.keep(Elements.row(sum));
      received = TensorScope.keep(sum.new_empty(ranks * sum.numel()));
    }
  }

  /** Returns the places of all ranks' slices, one behind the other. */
  Tensor received() {
    return received;
  }

  /** Returns the place of what a rank sends. */
  Tensor from(int rank) {
    return received.narrow(0, rank * sum.numel(), sum.numel());
  }

  /**
   * Starts a sum.
   *
   * @param sum where it shall be
   * @param send starts to send slices to their places
   */
  static Pending of(Tensor sum, int ranks, Function<ScatteredSum, Pending> send) {
    var scattered = new ScatteredSum(sum, ranks);
    try {
      var arrival = send.apply(scattered);
      return () -> scattered.finish(arrival);
    } catch (RuntimeException e) {
      scattered.close();
      throw e;
    }
  }

  private void finish(Pending arrival) {
    if (isDone) {
      return;
    }
    isDone = true;
    try (var _ = TensorScope.open();
        var _ = new NoGradGuard()) {
      arrival.await();
      sum.copy_(from(0));
      for (int rank = 1; rank < ranks; rank++) {
        sum.add_(from(rank));
      }
    } finally {
      close();
    }
  }

  private void close() {
    TensorScope.free(received);
    TensorScope.free(sum);
  }
}
