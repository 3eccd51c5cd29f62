package dev.flotilla.strategy.compress;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Totals;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.exchange.Exchange;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.state.RunState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.ScalarOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * Shares compressed gradients: a vote, a dense sum of the small ones, and an all-gather per bucket.
 *
 * <p>While one bucket's message is on the wire, the next bucket is corrected and chosen from.
 * Nothing that a rank keeps is touched before all ranks have found all gradients finite, except
 * where the run ends if they are not: buckets then leave while backward goes on, and ranks vote at
 * the end. Before the ramp it is a dense exchange.
 */
final class SparseExchange implements Exchange {

  private static final int TOTALS = 3;

  private final Compression compression;
  private final Collective collective;
  private final Exchange dense;
  private final List<Pending> pending = new ArrayList<>();
  private boolean mayShareEarly;
  private boolean isEarly;
  private @Nullable Tensor trace;
  private boolean isSpoilt;

  SparseExchange(Compression compression) {
    this.compression = compression;
    this.collective = compression.collective();
    this.dense = Exchange.dense(collective);
  }

  @Override
  public boolean keepsResiduals() {
    return compression.isSparse();
  }

  @Override
  public void mayShareEarly() {
    mayShareEarly = true;
  }

  @Override
  public boolean sharesEarly() {
    return mayShareEarly && keepsResiduals();
  }

  @Override
  public void begin(Gradients gradients) {
    isEarly = sharesEarly();
    forgetTrace();
    compression.beginWindow();
    if (!compression.isWindowSparse()) {
      dense.begin(gradients);
      return;
    }
    pending.clear();
    try (var _ = TensorScope.open()) {
      var ballot = Tensors.zeros(torch.ScalarType.Double, TOTALS + 1);
      var totals = ballot.narrow(0, 0, TOTALS);
      totals.copy_(gradients.tail());
      var objections = ballot.narrow(0, TOTALS, 1);
      if (!isEarly && !gradients.isFiniteHere()) {
        objections.add_(Tensors.ofDoubles(1));
      }
      collective.allReduce(ballot, Reduction.SUM, Traffic.SCALAR).await();
      gradients.tail().copy_(totals);
      if (!isEarly) {
        gradients.judgeBeforeSharing(isNone(objections));
      }
    }
  }

  private static boolean isNone(Tensor objections) {
    return objections.item_double() == 0;
  }

  /** Leaves a trace of what is not finite, without waiting for a device. */
  private void look(Tensor gradients) {
    try (var _ = TensorScope.open()) {
      var largest = new ScalarOptional(new Scalar(Double.POSITIVE_INFINITY));
      var nothing = gradients.norm(largest, 0).mul_(new Scalar(0.0));
      trace = trace == null ? TensorScope.keep(nothing) : trace.add_(nothing);
    }
  }

  private void vote(Gradients gradients) {
    try (var _ = TensorScope.open()) {
      boolean isFinite = trace == null || trace.item_double() == 0;
      var objections = Tensors.ofDoubles(isFinite ? 0 : 1);
      forgetTrace();
      collective.allReduce(objections, Reduction.SUM, Traffic.SCALAR).await();
      gradients.judgeBeforeSharing(isNone(objections));
      isSpoilt = !isNone(objections);
    }
  }

  private void forgetTrace() {
    TensorScope.free(trace);
    trace = null;
  }

  @Override
  public Pending share(Gradients gradients, Bucket bucket) {
    if (!compression.isWindowSparse()) {
      return dense.share(gradients, bucket);
    }
    double factor = gradients.factor();
    if (pending.isEmpty()) {
      compression.beginMessages();
      if (!isEarly) { // Small gradients lie everywhere, and are complete when all are.
        compression.side().start(factor);
      }
    }
    if (isEarly) {
      look(gradients.part(bucket));
    }
    long start = System.nanoTime();
    var compressor = compression.inWindow(bucket);
    if (compressor.elements() > 0) {
      compressor.compress(factor);
    }
    compression.record().selected(System.nanoTime() - start);
    pending.add(gather(compressor));
    return Pending.DONE;
  }

  private Pending gather(BucketCompressor compressor) {
    return compressor.elements() == 0
        ? Pending.DONE
        : collective.allGather(compressor.messages(), compressor.message(), Traffic.EXCHANGE);
  }

  @Override
  public Totals end(Gradients gradients) {
    if (compression.isWindowSparse()) {
      if (isEarly) {
        compression.side().start(gradients.factor());
        vote(gradients);
      }
      long start = System.nanoTime();
      compression.side().finish();
      pending.forEach(Pending::await);
      compression.record().waited(System.nanoTime() - start);
      long received = System.nanoTime();
      compression.window().forEach(BucketCompressor::add);
      compression.record().applied(System.nanoTime() - received);
    }
    return gradients.totals();
  }

  @Override
  public void remember(RunState state) {
    if (state.isSaving() && isSpoilt) {
      throw new IllegalStateException(
          "what this rank keeps holds the numbers that have ended the run, and cannot be saved: go"
              + " on from the checkpoint before");
    }
    isSpoilt = false;
    compression.remember(state);
  }

  @Override
  public void close() {
    forgetTrace();
  }

  @Override
  public Map<String, Object> metrics() {
    return compression.metrics();
  }
}
