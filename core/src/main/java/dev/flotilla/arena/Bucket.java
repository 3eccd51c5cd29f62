package dev.flotilla.arena;

import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;

/**
 * A contiguous part of an arena that is reduced at once.
 *
 * @param index its number in the order in which buckets are reduced
 * @param isLast whether no other bucket is reduced after it
 * @param range where it lies
 * @param parameters whose gradients it holds, in the layout's order
 */
public record Bucket(int index, boolean isLast, Range range, List<Slot> parameters) {

  /**
   * Where a part of an arena lies.
   *
   * @param offset first element
   * @param length number of elements
   */
  public record Range(long offset, long length) {

    /** Returns the element behind the last one. */
    public long end() {
      return offset + length;
    }

    /** Tells whether all of another range lies in this one. */
    public boolean holds(Range other) {
      return offset <= other.offset && other.end() <= end();
    }

    /** Returns what lies in both; an empty range if nothing does. */
    public Range common(Range other) {
      long from = Math.max(offset, other.offset);
      return new Range(from, Math.max(0, Math.min(end(), other.end()) - from));
    }

    /** Returns these elements of a flat tensor that begins with an element of the arena. */
    public Tensor of(Tensor flat, long first) {
      return flat.narrow(0, offset - first, length);
    }
  }

  /** Copies the list. */
  public Bucket {
    parameters = List.copyOf(parameters);
  }

  /**
   * Cuts an arena into buckets.
   *
   * @param ranges in the order in which buckets are reduced; they cover the layout without overlap,
   *     and cut no parameter
   */
  public static List<Bucket> of(Layout layout, List<Range> ranges) {
    List<Bucket> buckets = new ArrayList<>();
    int parameters = 0;
    for (var range : ranges) {
      var inside = layout.in(range);
      boolean isLast = buckets.size() == ranges.size() - 1;
      buckets.add(new Bucket(buckets.size(), isLast, range, inside));
      parameters += inside.size();
    }
    long length = ranges.stream().mapToLong(Range::length).sum();
    if (parameters != layout.slots().size() || length != layout.length()) {
      throw new IllegalArgumentException(
          "buckets hold %d of %d parameters and %d of %d elements"
              .formatted(parameters, layout.slots().size(), length, layout.length()));
    }
    return List.copyOf(buckets);
  }

  /**
   * Makes a bucket of any part of an arena; it may hold pieces of parameters.
   *
   * @param index its number in the order in which buckets are reduced
   */
  public static Bucket piece(Layout layout, int index, boolean isLast, Range range) {
    return new Bucket(
        index,
        isLast,
        range,
        layout.slots().stream().filter(slot -> slot.range().common(range).length() > 0).toList());
  }

  /** Returns its first element. */
  public long offset() {
    return range.offset();
  }

  /** Returns the number of its elements. */
  public long length() {
    return range.length();
  }
}
