package dev.flotilla.checkpoint;

import java.util.Optional;

/**
 * Where a rank says that it could not write its part, when it could not write that either: a note
 * in the checkpoint's folder needs room on the same disk.
 *
 * <p>Called by the threads that write checkpoints.
 */
public interface FailureBoard {

  /** Says to rank 0 why a save has failed. */
  void post(String save, String reason);

  /** Returns what a rank has said of a save. */
  Optional<String> read(String save);

  /** Returns a board that nobody reads, for a rank that is alone. */
  static FailureBoard none() {
    return new FailureBoard() {
      @Override
      public void post(String save, String reason) {}

      @Override
      public Optional<String> read(String save) {
        return Optional.empty();
      }
    };
  }
}
