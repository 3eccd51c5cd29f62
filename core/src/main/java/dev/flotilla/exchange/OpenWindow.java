package dev.flotilla.exchange;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Totals;
import java.util.List;
import java.util.Optional;

/**
 * A window that has begun to be reduced.
 *
 * @param feedback lets ranks keep what they do not send
 * @param agreed the totals, where ranks have agreed on them before gradients
 * @param isWhole whether the accumulation window ends with it, and not a micro-step alone
 */
record OpenWindow(
    List<Bucket> buckets,
    BucketPipeline pipeline,
    Optional<ErrorFeedback> feedback,
    Optional<Totals> agreed,
    boolean isWhole) {

  OpenWindow asWhole() {
    return new OpenWindow(buckets, pipeline, feedback, agreed, true);
  }

  boolean hasNothingToReduce() {
    return agreed.filter(totals -> totals.count() == 0).isPresent();
  }

  /** Reduces all buckets that are left, and ends the window; returns the totals of all ranks. */
  Totals reduce(Exchange exchange, Gradients gradients) {
    pipeline.finish();
    var totals = new Totals[1];
    pipeline.call(() -> totals[0] = end(exchange, gradients));
    return totals[0];
  }

  private Totals end(Exchange exchange, Gradients gradients) {
    feedback.ifPresent(ErrorFeedback::startVote);
    var totals = exchange.end(gradients);
    feedback.ifPresent(ErrorFeedback::endVote);
    return totals;
  }
}
