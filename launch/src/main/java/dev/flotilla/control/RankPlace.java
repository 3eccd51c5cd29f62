package dev.flotilla.control;

/**
 * Where a rank is in its work.
 *
 * @param rank number of the rank
 * @param microStep micro-step it has begun last, or {@link #NONE}
 * @param updates updates it has made
 * @param activity what it does outside micro-steps; empty inside
 * @param sequence number of the collective that it waits in, or else of its last one; 0 before any
 * @param operation what that collective does
 * @param bytes size of its tensor
 * @param waits whether it is inside that collective
 */
public record RankPlace(
    int rank,
    long microStep,
    long updates,
    String activity,
    long sequence,
    String operation,
    long bytes,
    boolean waits) {

  /** The micro-step of a rank that has not begun any. */
  public static final long NONE = Long.MIN_VALUE;

  /** Returns the place of a rank of which nothing is known. */
  public static RankPlace unknown(int rank) {
    return new RankPlace(rank, NONE, 0, "", 0, "", 0, false);
  }

  /** Tells whether the rank has begun a micro-step. */
  public boolean hasBegun() {
    return microStep != NONE;
  }

  /** Returns "update 97, micro-step 391", or that the rank has begun none. */
  public String progress() {
    String outside = activity.isEmpty() ? "" : " (" + activity + ")";
    return hasBegun()
        ? "update %d, micro-step %d%s".formatted(updates, microStep, outside)
        : "before the first micro-step" + outside;
  }

  /** Returns "at update 97, micro-step 391", or that the rank has begun none. */
  public String when() {
    return at(progress());
  }

  /** Returns {@link #progress} with the word before it that a sentence needs. */
  static String at(String progress) {
    return progress.startsWith("before") ? progress : "at " + progress;
  }

  /** Returns "all-reduce #812 (update 97)". */
  String collective() {
    return "%s #%d (update %d)".formatted(operation, sequence, updates);
  }
}
