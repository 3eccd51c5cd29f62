package dev.flotilla.strategy.compress;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Layout;
import dev.flotilla.arena.Slot;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/**
 * Which parameters are compressed, and which are so small that they travel densely.
 *
 * @param compressed stretches of large parameters
 * @param dense stretches of small ones
 */
record Division(List<Stretch> compressed, List<Stretch> dense) {

  /**
   * Divides an arena.
   *
   * @param minNumel elements from which on a parameter is compressed
   * @param decay weight decay of a parameter
   */
  static Division of(Layout layout, long minNumel, ToDoubleFunction<Slot> decay) {
    Predicate<Slot> isLarge = slot -> slot.length() >= minNumel;
    return new Division(
        stretches(layout, isLarge, decay), stretches(layout, isLarge.negate(), decay));
  }

  /**
   * Returns the whole arena, cut only where the decay changes, as it is without compression: other
   * cuts would round otherwise at their ends.
   */
  static List<Stretch> everything(Layout layout, ToDoubleFunction<Slot> decay) {
    var stretches = stretches(layout, _ -> true, decay);
    List<Stretch> all = new ArrayList<>();
    for (int i = 0; i < stretches.size(); i++) {
      var stretch = stretches.get(i);
      long end = i + 1 < stretches.size() ? stretches.get(i + 1).offset() : layout.length();
      all.add(new Stretch(stretch.offset(), end - stretch.offset(), stretch.decay()));
    }
    return all;
  }

  /** Neighbours are joined, with the gap between them: it is zero and stays zero. */
  private static List<Stretch> stretches(
      Layout layout, Predicate<Slot> member, ToDoubleFunction<Slot> decay) {
    List<Stretch> found = new ArrayList<>();
    boolean wasMember = false;
    for (var slot : layout.slots()) {
      boolean isMember = member.test(slot);
      if (isMember) {
        var next = new Stretch(slot.offset(), slot.length(), decay.applyAsDouble(slot));
        boolean joins = wasMember && found.getLast().decay() == next.decay();
        found.add(joins ? joined(found.removeLast(), next) : next);
      }
      wasMember = isMember;
    }
    return List.copyOf(found);
  }

  private static Stretch joined(Stretch first, Stretch second) {
    return new Stretch(first.offset(), second.end() - first.offset(), first.decay());
  }

  /** Returns what of a bucket is compressed. */
  List<Stretch> compressedIn(Bucket bucket) {
    return compressed.stream()
        .map(stretch -> stretch.between(bucket.offset(), bucket.offset() + bucket.length()))
        .filter(stretch -> stretch.length() > 0)
        .toList();
  }

  static long elements(List<Stretch> stretches) {
    return stretches.stream().mapToLong(Stretch::length).sum();
  }
}
