package dev.flotilla.board.run;

import java.time.Instant;

/**
 * Something that happened at one moment of a run.
 *
 * @param kind what it was
 * @param update updates made before
 * @param time when
 * @param text a few words for people
 */
public record Moment(Kind kind, long update, Instant time, String text) {

  /** What may happen. */
  public enum Kind {
    /** An epoch ended. */
    EPOCH,
    /** An evaluation on test data. */
    EVALUATION,
    /** A checkpoint was saved. */
    CHECKPOINT,
    /** The run went on from a checkpoint. */
    RESTART,
    /** A window was left out, or rolled back, as its numbers were not finite. */
    SKIP,
    /** A rank was slower than the others. */
    STRAGGLER,
    /** A line that users should read. */
    NOTE
  }
}
