package dev.flotilla.strategy.fusion;

import dev.flotilla.arena.Bucket;
import dev.flotilla.exchange.BucketPlan;
import java.util.List;

/** Buckets that were cut once and for all. */
record SizePlan(List<Bucket> buckets, boolean overlapsBackward) implements BucketPlan {}
