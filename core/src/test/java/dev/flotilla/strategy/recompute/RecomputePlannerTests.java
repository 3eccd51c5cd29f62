package dev.flotilla.strategy.recompute;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.pass.PartCost;
import dev.flotilla.pass.Span;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class RecomputePlannerTests {

  /** A chain in which every part makes one new tensor and may pass the one before it on. */
  private static List<PartCost> chain(Random random, int count) {
    List<PartCost> costs = new ArrayList<>();
    Map<Long, Long> before = Map.of();
    for (int i = 0; i < count; i++) {
      int output = 1 + random.nextInt(20);
      Map<Long, Long> outputs = new HashMap<>();
      if (random.nextBoolean() && !before.isEmpty()) {
        var passed = before.entrySet().iterator().next();
        outputs.put(passed.getKey(), passed.getValue());
      }
      outputs.put((long) i + 1, (long) output);
      long nanos = 1 + random.nextLong(50);
      long finalNanos = random.nextBoolean() ? 0 : random.nextLong(nanos);
      costs.add(new PartCost("p" + i, output + random.nextLong(100), nanos, finalNanos, outputs));
      before = outputs;
    }
    return costs;
  }

  /** What a plan holds and needs, counted span by span. */
  private record Weighed(long peak, long nanos) {}

  private static Weighed weigh(List<PartCost> costs, List<Span> spans) {
    long held = 0;
    long peak = 0;
    long nanos = 0;
    for (var span : spans) {
      var parts = costs.subList(span.from(), span.to());
      long inside = parts.stream().mapToLong(PartCost::keptBytes).sum();
      if (span.isRecomputed()) {
        var after = costs.get(span.to() - 1).outputs();
        var before = span.from() == 0 ? Map.<Long, Long>of() : costs.get(span.from() - 1).outputs();
        long gradient = after.values().stream().mapToLong(Long::longValue).sum();
        peak = Math.max(peak, held + inside + gradient);
        nanos += parts.stream().mapToLong(PartCost::nanos).sum() - parts.getLast().finalNanos();
        for (var storage : after.entrySet()) {
          held += before.containsKey(storage.getKey()) ? 0 : storage.getValue();
        }
      } else {
        held += inside;
        peak = Math.max(peak, held);
      }
    }
    return new Weighed(peak, nanos);
  }

  /** Tries every way to cut and recompute. */
  private static Optional<Long> leastNanos(
      List<PartCost> costs, List<Span> soFar, int from, long budget) {
    if (from == costs.size()) {
      var weighed = weigh(costs, soFar);
      return weighed.peak() <= budget ? Optional.of(weighed.nanos()) : Optional.empty();
    }
    Optional<Long> best = Optional.empty();
    for (int to = from + 1; to <= costs.size(); to++) {
      List<Span> choices = new ArrayList<>();
      if (to == from + 1) {
        choices.add(Span.kept(from, to));
      }
      if (to < costs.size()) {
        choices.add(Span.recomputed(from, to));
      }
      for (var span : choices) {
        List<Span> next = new ArrayList<>(soFar);
        next.add(span);
        var nanos = leastNanos(costs, next, to, budget);
        if (nanos.isPresent() && (best.isEmpty() || nanos.get() < best.get())) {
          best = nanos;
        }
      }
    }
    return best;
  }

  @Test
  void noPlanIsQuickerThanTheOneFound() {
    var random = new Random(7);
    for (int trial = 0; trial < 60; trial++) {
      var costs = chain(random, 2 + random.nextInt(6));
      long all = costs.stream().mapToLong(PartCost::keptBytes).sum();
      long budget = 1 + (long) (all * random.nextDouble() * 1.2);
      var found = new RecomputePlanner(costs).under(budget);
      var expected = leastNanos(costs, List.of(), 0, budget);
      assertThat(found.map(RecomputePlan::extraNanos)).isEqualTo(expected);
      found.ifPresent(
          plan -> {
            var weighed = weigh(costs, plan.spans());
            assertThat(weighed.nanos()).isEqualTo(plan.extraNanos());
            assertThat(weighed.peak()).isEqualTo(plan.peakBytes()).isLessThanOrEqualTo(budget);
          });
    }
  }

  @Test
  void withEnoughMemoryNothingIsRecomputed() {
    var costs = chain(new Random(1), 9);
    var plan = new RecomputePlanner(costs).under(1_000_000).orElseThrow();
    assertThat(plan.spans()).containsExactly(Span.kept(0, 9));
    assertThat(plan.extraNanos()).isZero();
  }

  @Test
  void theSmallestFeasibleMemoryIsFeasibleAndLittleLessIsNot() {
    List<PartCost> costs = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      costs.add(new PartCost("p" + i, 40 << 20, 1000, 0, Map.of((long) i + 1, 1L << 20)));
    }
    var planner = new RecomputePlanner(costs);
    long least = planner.least();
    assertThat(planner.under(least)).isPresent();
    assertThat(planner.under(least - 4096)).isEmpty();
  }

  @Test
  void fiftyPartsArePlannedAtOnce() {
    assertHalfIsEnough(50);
  }

  @Tag("thorough")
  @Test
  void aHundredPartsArePlannedAtOnce() {
    assertHalfIsEnough(100);
  }

  private static void assertHalfIsEnough(int parts) {
    var costs = chain(new Random(3), parts);
    long all = costs.stream().mapToLong(PartCost::keptBytes).sum();
    assertThat(new RecomputePlanner(costs).under(all / 2)).isPresent();
  }
}
