package dev.flotilla.strategy.recompute;

import dev.flotilla.pass.PartCost;
import dev.flotilla.pass.Span;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds the parts to recompute that cost the least time under a limit of memory.
 *
 * <p>A kept part i holds kᵢ bytes until backward. A recomputed span [s, e) holds the memory that
 * leaves it, r(s, e), and when backward comes to it, everything it computes again and the gradient
 * of what leaves it: with p(s) held before it, p(s) + Σ kᵢ + b(e) must fit. Dynamic programming
 * over the parts keeps, for each place in the chain, the choices of which none takes both more
 * memory and more time than another.
 *
 * <p>Costs O(n² · m) for n parts and at most m = 400 choices a place.
 */
final class RecomputePlanner {

  private static final int MOST_CHOICES = 400;

  private final List<PartCost> costs;
  private final int count;

  /** A choice for all parts before a place. */
  private record Choice(
      long held, long nanos, long peak, @Nullable Span span, @Nullable Choice before) {}

  RecomputePlanner(List<PartCost> costs) {
    this.costs = List.copyOf(costs);
    this.count = costs.size();
  }

  /** Returns the quickest plan that fits, or nothing if none does. */
  Optional<RecomputePlan> under(long budget) {
    List<List<Choice>> places = new ArrayList<>();
    places.add(List.of(new Choice(0, 0, 0, null, null)));
    for (int to = 1; to <= count; to++) {
      List<Choice> choices = new ArrayList<>();
      for (int from = 0; from < to; from++) {
        extend(places.get(from), from, to, budget, choices);
      }
      places.add(best(choices));
    }
    return places.getLast().stream()
        .min(Comparator.comparingLong(Choice::nanos).thenComparingLong(Choice::peak))
        .map(this::plan);
  }

  private void extend(List<Choice> before, int from, int to, long budget, List<Choice> choices) {
    boolean isLast = to == count;
    for (var choice : before) {
      if (to - from == 1) {
        long held = choice.held() + costs.get(from).keptBytes();
        add(choices, choice, held, 0, held, Span.kept(from, to), budget);
      }
      if (!isLast) {
        long peak = choice.held() + kept(from, to) + leaving(to, 0);
        long held = choice.held() + leaving(to, from);
        add(choices, choice, held, nanos(from, to), peak, Span.recomputed(from, to), budget);
      }
    }
  }

  private static void add(
      List<Choice> choices,
      Choice before,
      long held,
      long nanos,
      long peak,
      Span span,
      long budget) {
    if (peak <= budget && held <= budget) {
      choices.add(
          new Choice(held, before.nanos() + nanos, Math.max(before.peak(), peak), span, before));
    }
  }

  /** Keeps the choices that no other beats in both memory and time. */
  private static List<Choice> best(List<Choice> choices) {
    choices.sort(Comparator.comparingLong(Choice::held).thenComparingLong(Choice::nanos));
    List<Choice> best = new ArrayList<>();
    long quickest = Long.MAX_VALUE;
    for (var choice : choices) {
      if (choice.nanos() < quickest) {
        best.add(choice);
        quickest = choice.nanos();
      }
    }
    return best.size() <= MOST_CHOICES ? best : thinned(best);
  }

  /** Both ends stay, so that what is feasible and what is quickest never get lost. */
  private static List<Choice> thinned(List<Choice> choices) {
    List<Choice> some = new ArrayList<>();
    for (int i = 0; i < MOST_CHOICES; i++) {
      some.add(choices.get((int) ((long) i * (choices.size() - 1) / (MOST_CHOICES - 1))));
    }
    return some;
  }

  /** Returns the smallest memory for which there is a plan. */
  long least() {
    long low = 0;
    long high = kept(0, count) + leaving(count - 1, 0);
    while (high - low > 1024) {
      long middle = (low + high) / 2;
      if (under(middle).isPresent()) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return high;
  }

  private long kept(int from, int to) {
    return costs.subList(from, to).stream().mapToLong(PartCost::keptBytes).sum();
  }

  /** Returns how long recomputation takes, which leaves out the final function of its last part. */
  private long nanos(int from, int to) {
    long all = costs.subList(from, to).stream().mapToLong(PartCost::nanos).sum();
    return all - costs.get(to - 1).finalNanos();
  }

  /** Returns the bytes that pass a place and were made since another. */
  private long leaving(int to, int since) {
    if (to == 0) {
      return 0;
    }
    var old = since == 0 ? java.util.Map.<Long, Long>of() : costs.get(since - 1).outputs();
    return costs.get(to - 1).outputs().entrySet().stream()
        .filter(entry -> !old.containsKey(entry.getKey()))
        .mapToLong(java.util.Map.Entry::getValue)
        .sum();
  }

  private RecomputePlan plan(Choice last) {
    List<Span> spans = new ArrayList<>();
    Choice choice = last;
    while (choice.span() != null && choice.before() != null) {
      spans.addFirst(choice.span());
      choice = choice.before();
    }
    return new RecomputePlan(joined(spans), last.peak(), last.nanos());
  }

  /** Kept neighbours are one span: nothing is gained by a pause between them. */
  private static List<Span> joined(List<Span> spans) {
    List<Span> joined = new ArrayList<>();
    for (var span : spans) {
      if (!joined.isEmpty() && !joined.getLast().isRecomputed() && !span.isRecomputed()) {
        joined.set(joined.size() - 1, Span.kept(joined.getLast().from(), span.to()));
      } else {
        joined.add(span);
      }
    }
    return joined;
  }
}
