package dev.flotilla.collective;

import java.util.Arrays;
import org.bytedeco.pytorch.Tensor;

/** How the elements of a tensor are cut among ranks: one slice each, in order, of any length. */
public final class RankSlices {

  private final long[] ends;

  private RankSlices(long[] ends) {
    this.ends = ends;
  }

  /** Makes slices of these lengths; they may be empty. */
  public static RankSlices of(long... lengths) {
    if (lengths.length == 0 || Arrays.stream(lengths).anyMatch(length -> length < 0)) {
      throw new IllegalArgumentException(
          "slices need a length of 0 or more for each rank, but were given "
              + Arrays.toString(lengths));
    }
    var ends = lengths.clone();
    Arrays.parallelPrefix(ends, Math::addExact);
    return new RankSlices(ends);
  }

  /** Cuts so many elements into slices that differ by one at most, the longer ones first. */
  public static RankSlices even(long elements, int ranks) {
    var lengths = new long[ranks];
    Arrays.setAll(lengths, rank -> elements / ranks + (rank < elements % ranks ? 1 : 0));
    return of(lengths);
  }

  /** Returns the number of slices. */
  public int ranks() {
    return ends.length;
  }

  /** Returns the number of elements of all slices. */
  public long elements() {
    return ends[ends.length - 1];
  }

  /** Returns where the slice of a rank begins. */
  public long offset(int rank) {
    return rank == 0 ? 0 : ends[rank - 1];
  }

  /** Returns the number of elements of a rank's slice. */
  public long length(int rank) {
    return ends[rank] - offset(rank);
  }

  /** Returns the slice of a rank, as a one-dimensional view of a dense tensor. */
  public Tensor slice(Tensor whole, int rank) {
    return Elements.row(whole).narrow(0, offset(rank), length(rank));
  }

  /** Returns the number of elements of the longest slice. */
  public long longest() {
    long longest = 0;
    for (int rank = 0; rank < ranks(); rank++) {
      longest = Math.max(longest, length(rank));
    }
    return longest;
  }

  boolean areEqual() {
    return longest() * ranks() == elements();
  }

  @Override
  public String toString() {
    return ranks() + " slices of " + elements() + " elements in all, the longest of " + longest();
  }
}
