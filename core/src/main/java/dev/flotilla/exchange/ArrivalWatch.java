package dev.flotilla.exchange;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.arena.Slot;
import dev.flotilla.settings.Remedy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tells when the buckets of a window are complete, from the gradients that arrive in backward.
 *
 * <p>A parameter that several parts use gets a gradient from each of them: how many come is learnt
 * from the micro-step before. One too many after its bucket has left would be lost in silence, so
 * it is an error; one too few keeps its bucket until backward has ended.
 */
final class ArrivalWatch implements AutoCloseable {

  private final List<Slot> slots;
  private final Runnable complete;
  private final Consumer<String> notices;
  private final GradientArrivals hooks;
  private final Map<Slot, Integer> numbers = new HashMap<>();
  private final int[] firstBucketOf;
  private final int[] lastBucketOf;
  private final int[] seen;
  private final long[] arrivals;
  private int[] expected;
  private @Nullable Object graph;
  private List<Bucket> buckets = List.of();
  private int[] missing = new int[0];
  private int left;
  private long start;
  private long end;
  private boolean hasNamedMissing;

  /**
   * Watches an arena.
   *
   * @param complete is called for each bucket in its turn
   */
  ArrivalWatch(ParameterArena arena, Runnable complete, Consumer<String> notices) {
    this.slots = arena.layout().slots();
    this.complete = complete;
    this.notices = notices;
    for (int i = 0; i < slots.size(); i++) {
      numbers.put(slots.get(i), i);
    }
    firstBucketOf = new int[slots.size()];
    lastBucketOf = new int[slots.size()];
    seen = new int[slots.size()];
    expected = new int[slots.size()];
    arrivals = new long[slots.size()];
    hooks = new GradientArrivals(arena, this::arrived);
  }

  /** Tells whether it is known how many gradients each parameter gets. */
  boolean expects(Object nextGraph) {
    return nextGraph.equals(graph);
  }

  /**
   * Runs a backward.
   *
   * @param reduced the buckets to tell of, or none
   */
  void during(Runnable backward, Object nextGraph, List<Bucket> reduced) {
    prepare(reduced);
    start = System.nanoTime();
    try {
      backward.run();
    } finally {
      end = System.nanoTime();
    }
    if (left < buckets.size()) {
      nameMissing();
    }
    buckets = List.of();
    expected = seen.clone();
    graph = nextGraph;
  }

  private void prepare(List<Bucket> reduced) {
    Arrays.fill(seen, 0);
    Arrays.fill(arrivals, 0);
    buckets = reduced;
    missing = new int[reduced.size()];
    left = 0;
    Arrays.fill(firstBucketOf, Integer.MAX_VALUE);
    for (var bucket : reduced) {
      for (var slot : bucket.parameters()) {
        int number = numberOf(slot);
        // One that is cut has pieces in buckets that follow each other.
        firstBucketOf[number] = Math.min(firstBucketOf[number], bucket.index());
        lastBucketOf[number] = bucket.index();
      }
      missing[bucket.index()] = bucket.parameters().size();
    }
  }

  private int numberOf(Slot slot) {
    return Objects.requireNonNull(numbers.get(slot), "no such parameter");
  }

  private void arrived(int slot) {
    seen[slot]++;
    arrivals[slot] = System.nanoTime();
    if (buckets.isEmpty()) {
      return;
    }
    if (seen[slot] > Math.max(1, expected[slot])) {
      refuseIfLate(slot);
    } else if (seen[slot] == expected[slot]) {
      for (int bucket = firstBucketOf[slot]; bucket <= lastBucketOf[slot]; bucket++) {
        missing[bucket]--;
      }
      reduceComplete();
    }
  }

  private void reduceComplete() {
    while (left < buckets.size() && missing[left] == 0) {
      left++;
      complete.run();
    }
  }

  private void refuseIfLate(int slot) {
    if (firstBucketOf[slot] < left) {
      throw new IllegalStateException(
          ("%s got gradient number %d after its bucket had been sent, as it had %d in the"
                  + " micro-step before: the model does not use it equally often each time; set"
                  + " %s")
              .formatted(
                  slots.get(slot).spec().name(),
                  seen[slot],
                  expected[slot],
                  Remedy.NO_OVERLAP.named()));
    }
  }

  private void nameMissing() {
    if (hasNamedMissing) {
      return;
    }
    List<String> names = new ArrayList<>();
    for (int slot = 0; slot < slots.size(); slot++) {
      if (lastBucketOf[slot] >= left && seen[slot] < Math.max(1, expected[slot])) {
        names.add(slots.get(slot).spec().name());
      }
    }
    hasNamedMissing = true;
    notices.accept(
        "no gradient came for %s, so %d of %d buckets waited for the end of backward; freeze what"
                .formatted(String.join(", ", names), buckets.size() - left, buckets.size())
            + " is not trained");
  }

  /** Returns when the gradient of each parameter was complete in the last backward. */
  long[] arrivals() {
    return arrivals.clone();
  }

  long start() {
    return start;
  }

  long end() {
    return end;
  }

  @Override
  public void close() {
    hooks.close();
  }
}
