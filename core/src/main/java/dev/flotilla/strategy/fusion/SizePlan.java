package dev.flotilla.strategy.fusion;

import dev.flotilla.arena.Bucket;
import dev.flotilla.exchange.BucketPlan;
import java.util.List;
import java.util.Optional;

/** Buckets that were cut once and for all. */
record SizePlan(List<Bucket> buckets, boolean overlapsBackward) implements BucketPlan {

  @Override
  public Optional<String> announcement(int gradients, int reduced, String collectives) {
    return Optional.of(FuseAllReduce.announcement(gradients, reduced, collectives));
  }
}
