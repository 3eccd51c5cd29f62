package dev.flotilla.strategy.compress;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Totals;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.Traffic;
import dev.flotilla.exchange.ErrorFeedback;
import dev.flotilla.exchange.Exchange;
import dev.flotilla.exchange.Stage;
import dev.flotilla.state.RunState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Exchanges compressed gradients: a dense sum of the small ones, and an all-gather per bucket.
 *
 * <p>While one bucket's message is on the wire, the next bucket is corrected and chosen from. Error
 * feedback keeps what is not sent. Before the ramp it is a dense exchange.
 */
final class SparseExchange implements Exchange {

  private final Compression compression;
  private final Collective collective;
  private final Exchange dense;
  private final ErrorFeedback feedback;
  private final List<Pending> pending = new ArrayList<>();

  SparseExchange(Compression compression) {
    this.compression = compression;
    this.collective = compression.collective();
    this.dense = Exchange.dense(collective);
    this.feedback = new ErrorFeedback(collective, compression.record()::lastDensity);
  }

  @Override
  public Optional<ErrorFeedback> feedback() {
    return compression.isSparse() ? Optional.of(feedback) : Optional.empty();
  }

  @Override
  public void begin(Gradients gradients) {
    compression.beginWindow();
    pending.clear();
    if (!compression.isWindowSparse()) {
      dense.begin(gradients);
    }
  }

  @Override
  public List<Stage> reduce(Gradients gradients, Bucket bucket) {
    return compression.isWindowSparse()
        ? List.of(() -> compress(bucket))
        : dense.reduce(gradients, bucket);
  }

  /** Messages of all buckets may be under way at once: they are small. */
  private Pending compress(Bucket bucket) {
    double factor = feedback.factor();
    if (pending.isEmpty()) {
      compression.beginMessages();
      if (!feedback
          .leavesEarly()) { // Small gradients lie everywhere, and are complete when all are.
        compression.side().start(factor);
      }
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
      if (feedback.leavesEarly()) {
        compression.side().start(feedback.factor());
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
    feedback.remember(state);
    compression.remember(state);
  }

  @Override
  public void close() {
    feedback.close();
  }

  @Override
  public Map<String, Object> metrics() {
    return compression.metrics();
  }
}
