package dev.flotilla.testkit;

/** Thrown when the body of a rank failed; the failures of other ranks are suppressed ones. */
public final class RankFailure extends AssertionError {

  private final int rank;

  RankFailure(int rank, Throwable cause) {
    super("rank %d: %s".formatted(rank, cause), cause);
    this.rank = rank;
  }

  /** Returns the rank that failed. */
  public int rank() {
    return rank;
  }
}
