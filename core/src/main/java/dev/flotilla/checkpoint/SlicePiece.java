package dev.flotilla.checkpoint;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * Consecutive elements of a long tensor that were all saved in the same slices.
 *
 * @param begin number of the first element in the whole
 * @param end number of the element after the last one
 * @param slices those that hold these elements, in the order they were given; may be none
 */
record SlicePiece(long begin, long end, List<SavedSlice> slices) {

  /** Divides a range by the slices that hold its elements. */
  static List<SlicePiece> of(long begin, long end, List<SavedSlice> slices) {
    var bounds = new TreeSet<>(List.of(begin, end));
    for (var slice : slices) {
      bounds.add(Math.clamp(slice.begin(), begin, end));
      bounds.add(Math.clamp(slice.end(), begin, end));
    }
    List<SlicePiece> pieces = new ArrayList<>();
    long from = begin;
    for (long to : bounds.tailSet(begin, false)) {
      pieces.add(between(from, to, slices));
      from = to;
    }
    return pieces;
  }

  private static SlicePiece between(long from, long to, List<SavedSlice> slices) {
    var holders =
        slices.stream().filter(slice -> slice.begin() <= from && to <= slice.end()).toList();
    return new SlicePiece(from, to, holders);
  }

  long length() {
    return end - begin;
  }
}
