package dev.flotilla.checkpoint;

import java.util.Optional;

/**
 * Where a rank says that it could not write its part, when it could not write that either: a note
 * in the checkpoint's folder needs room on the same disk.
 *
 * <p>Called by the threads that write checkpoints.
 */
public interface SaveFailures {

  /** Says to rank 0 why a save has failed. */
  void report(String save, String reason);

  /** Returns what a rank has said of a save. */
  Optional<String> of(String save);

  /** Returns one that forgets everything, for a rank that is alone. */
  static SaveFailures none() {
    return new SaveFailures() {
      @Override
      public void report(String save, String reason) {}

      @Override
      public Optional<String> of(String save) {
        return Optional.empty();
      }
    };
  }
}
