package dev.flotilla.engine;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Layout;
import java.util.List;

/** Cuts the gradient arena into buckets, in the order in which they are exchanged. */
@FunctionalInterface
public interface BucketPlan {

  /** One bucket for the whole arena. */
  BucketPlan WHOLE = layout -> List.of(new Bucket(0, layout.length()));

  /** Returns buckets that cover the arena without overlap. */
  List<Bucket> buckets(Layout layout);
}
