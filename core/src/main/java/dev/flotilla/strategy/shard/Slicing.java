package dev.flotilla.strategy.shard;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.arena.Layout;
import dev.flotilla.collective.RankSlices;
import dev.flotilla.model.Model;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * How a layout is cut among ranks: a segment is one unit, or several where it is large, and each
 * unit has one slice per rank.
 *
 * <p>The cut depends on layout and number of ranks alone, so what a rank keeps never moves,
 * whatever is exchanged together. Slices begin at multiples of 16 elements, so an optimizer's
 * vector instructions meet the same elements as without a cut. Those of a unit are equal but for
 * its end.
 *
 * @param units in forward order, without gaps
 * @param ranks number of ranks
 */
record Slicing(List<Unit> units, int ranks) {

  /** What is exchanged at once must be received somewhere: 8 MB of float32. */
  private static final long MOST = 1 << 21;

  /** Fewer are not worth a message of their own: a quarter of a megabyte of float32. */
  private static final long LEAST = 1 << 16;

  /** What is packed and received at once where ranks keep slices: 4 MB of float32. */
  private static final long CHUNK = 1 << 20;

  private static final int ALIGNMENT = 16;

  /**
   * A part of the arena that all ranks share.
   *
   * @param segment the number of the model's segment that it belongs to
   * @param range where it lies
   * @param slices how ranks share it
   */
  record Unit(int segment, Range range, RankSlices slices) {

    /** Returns where a rank's slice lies in the arena. */
    Range of(int rank) {
      return new Range(range.offset() + slices.offset(rank), slices.length(rank));
    }
  }

  /** Cuts the trainable parameters of a model. */
  static Slicing of(Model model, Layout layout, int ranks) {
    List<Unit> units = new ArrayList<>();
    var segments = layout.segmentsOf(model);
    for (int segment = 0; segment < segments.size(); segment++) {
      addUnits(segment, segments.get(segment), ranks, units);
    }
    return new Slicing(List.copyOf(units), ranks);
  }

  private static void addUnits(int segment, Range all, int ranks, List<Unit> units) {
    long pieces = Math.ceilDiv(all.length(), MOST);
    long length = pieces == 0 ? 0 : aligned(Math.ceilDiv(all.length(), pieces));
    for (long from = all.offset(); from < all.end(); from += length) {
      var range = new Range(from, Math.min(length, all.end() - from));
      units.add(new Unit(segment, range, slices(range.length(), ranks)));
    }
  }

  private static RankSlices slices(long length, int ranks) {
    long each = aligned(Math.ceilDiv(length, ranks));
    var lengths = new long[ranks];
    Arrays.setAll(lengths, rank -> Math.clamp(length - rank * each, 0, each));
    return RankSlices.of(lengths);
  }

  private static long aligned(long length) {
    return Math.ceilDiv(length, ALIGNMENT) * ALIGNMENT;
  }

  /** Returns how ranks share several units, a rank's slices of all of them behind each other. */
  static RankSlices together(List<Unit> units, int ranks) {
    var lengths = new long[ranks];
    Arrays.setAll(
        lengths, rank -> units.stream().mapToLong(unit -> unit.slices().length(rank)).sum());
    return RankSlices.of(lengths);
  }

  /** Returns in how many chunks so many elements are scattered. */
  static int chunks(long elements) {
    return Math.toIntExact(Math.max(1, Math.ceilDiv(elements, CHUNK)));
  }

  /** Returns the slices of a rank that are not empty, in forward order. */
  List<Range> of(int rank) {
    return units.stream().map(unit -> unit.of(rank)).filter(it -> it.length() > 0).toList();
  }

  /** Returns the number of elements that a rank keeps. */
  long elements(int rank) {
    return of(rank).stream().mapToLong(Range::length).sum();
  }

  /** Returns the units that lie within a part of the arena, in forward order. */
  List<Unit> in(Range range) {
    return units.stream().filter(unit -> range.holds(unit.range())).toList();
  }

  /**
   * Returns buckets of whole units, in the order of backward. A unit goes with the planned bucket
   * of its first element, which is the last of it to be complete; a bucket holds no more than the
   * largest unit may, so that little has to be received at once. Towards the end of backward
   * buckets become smaller, none larger than what comes behind it: the last one leaves when nothing
   * is left to hide it.
   */
  List<Bucket> buckets(Layout layout, List<Bucket> planned) {
    List<Range> ranges = new ArrayList<>();
    int open = -1;
    for (var unit : units.reversed()) {
      int of = bucketOf(unit, planned);
      if (of == open && isWorthJoining(unit.range(), ranges.getLast())) {
        var last = ranges.removeLast();
        ranges.add(new Range(unit.range().offset(), last.end() - unit.range().offset()));
      } else {
        ranges.add(unit.range());
        open = of;
      }
    }
    return IntStream.range(0, ranges.size())
        .mapToObj(i -> Bucket.piece(layout, i, i == ranges.size() - 1, ranges.get(i)))
        .toList();
  }

  /** What lies before a unit is complete after it. */
  private static boolean isWorthJoining(Range unit, Range bucket) {
    long joined = bucket.end() - unit.offset();
    return joined <= LEAST || joined <= Math.min(MOST, unit.offset());
  }

  private static int bucketOf(Unit unit, List<Bucket> planned) {
    var first = new Range(unit.range().offset(), 1);
    return planned.stream()
        .filter(bucket -> bucket.range().holds(first))
        .findFirst()
        .orElseThrow()
        .index();
  }

  /** Returns the largest number of elements that any rank keeps. */
  long most() {
    return IntStream.range(0, ranks).mapToLong(this::elements).max().orElse(0);
  }
}
