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
 * @param compressed slices of large parameters
 * @param dense slices of small ones
 */
record Division(List<ArenaSlice> compressed, List<ArenaSlice> dense) {

  /**
   * Divides an arena.
   *
   * @param minNumel elements from which on a parameter is compressed
   * @param decay weight decay of a parameter
   */
  static Division of(Layout layout, long minNumel, ToDoubleFunction<Slot> decay) {
    Predicate<Slot> isLarge = slot -> slot.length() >= minNumel;
    return new Division(slices(layout, isLarge, decay), slices(layout, isLarge.negate(), decay));
  }

  /**
   * Returns the whole arena, cut only where the decay changes, as it is without compression: other
   * cuts would round otherwise at their ends.
   */
  static List<ArenaSlice> everything(Layout layout, ToDoubleFunction<Slot> decay) {
    var slices = slices(layout, _ -> true, decay);
    List<ArenaSlice> all = new ArrayList<>();
    for (int i = 0; i < slices.size(); i++) {
      var slice = slices.get(i);
      long end = i + 1 < slices.size() ? slices.get(i + 1).offset() : layout.length();
      all.add(new ArenaSlice(slice.offset(), end - slice.offset(), slice.decay()));
    }
    return all;
  }

  /** Neighbours are joined, with the gap between them: it is zero and stays zero. */
  private static List<ArenaSlice> slices(
      Layout layout, Predicate<Slot> member, ToDoubleFunction<Slot> decay) {
    List<ArenaSlice> found = new ArrayList<>();
    boolean wasMember = false;
    for (var slot : layout.slots()) {
      boolean isMember = member.test(slot);
      if (isMember) {
        var next = new ArenaSlice(slot.offset(), slot.length(), decay.applyAsDouble(slot));
        boolean joins = wasMember && found.getLast().decay() == next.decay();
        found.add(joins ? joined(found.removeLast(), next) : next);
      }
      wasMember = isMember;
    }
    return List.copyOf(found);
  }

  private static ArenaSlice joined(ArenaSlice first, ArenaSlice second) {
    return new ArenaSlice(first.offset(), second.end() - first.offset(), first.decay());
  }

  /** Returns what of a bucket is compressed. */
  List<ArenaSlice> compressedIn(Bucket.Range bucket) {
    return compressed.stream()
        .map(slice -> slice.between(bucket.offset(), bucket.offset() + bucket.length()))
        .filter(slice -> slice.length() > 0)
        .toList();
  }

  static long elements(List<ArenaSlice> slices) {
    return slices.stream().mapToLong(ArenaSlice::length).sum();
  }
}
