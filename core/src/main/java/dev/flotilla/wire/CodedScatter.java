package dev.flotilla.wire;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.RankSlices;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import org.bytedeco.pytorch.Tensor;

/**
 * The first half of a {@link CodedSum}: each rank gets its slice of every other's vector in coded
 * numbers, and adds up in float32 in the order of ranks. Its own numbers are coded too, so that a
 * sum does not depend on who adds it up. What it ends with is never coded again.
 *
 * <p>Rows are as long as the longest slice, so slices of one length waste nothing.
 */
record CodedScatter(Collective collective, Codec codec) implements ReduceScatter {

  @Override
  public Pending start(Tensor own, Tensor whole, RankSlices slices, Traffic traffic) {
    var sent = new CodedRows(codec, collective.size(), slices.longest());
    var received = new CodedRows(codec, collective.size(), slices.longest());
    // A view of its own: the caller's may be gone when the sum is awaited.
    var sum = TensorScope.keep(own.view(-1));
    try {
      for (int rank = 0; rank < collective.size(); rank++) {
        sent.encode(slices.slice(whole, rank), rank);
      }
      var arrival = collective.allToAll(received.all(), sent.all(), traffic);
      return () -> finish(arrival, sent, received, sum);
    } catch (RuntimeException failure) {
      sent.close();
      received.close();
      TensorScope.free(sum);
      throw failure;
    }
  }

  private static void finish(Pending arrival, CodedRows sent, CodedRows received, Tensor sum) {
    try (received;
        var _ = TensorScope.open()) {
      try (sent) {
        arrival.await();
      }
      received.addUp(sum, sum.new_empty(sum.numel()));
    } finally {
      TensorScope.free(sum);
    }
  }
}
