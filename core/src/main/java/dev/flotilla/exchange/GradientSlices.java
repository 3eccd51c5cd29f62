package dev.flotilla.exchange;

import dev.flotilla.arena.Bucket;
import java.util.List;

/** How gradients are shared out where an exchange leaves each rank only a part of the sums. */
public interface GradientSlices {

  /** Returns the plan of buckets where no technique has one. */
  BucketPlan plan();

  /**
   * Returns the buckets that are reduced instead of those of a plan, in the same order: cut so that
   * every rank gets its part of each. They may hold pieces of parameters.
   */
  List<Bucket> cut(List<Bucket> planned);

  /** Tells whether the gradients of each micro-step are reduced, and not those of a window. */
  default boolean reducesEachMicroStep() {
    return false;
  }

  /** Returns the gradients of all ranks' parts as filters see them. */
  GradientView view();
}
