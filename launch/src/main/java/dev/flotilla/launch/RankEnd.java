package dev.flotilla.launch;

import dev.flotilla.world.ExitCodes;
import java.time.Instant;
import java.util.Optional;

/**
 * How a rank ended.
 *
 * @param rank number of the rank
 * @param exitCode exit code of its process, 128 + n for signal n
 * @param reaped when the launcher saw the end
 * @param error what the rank noted about it
 */
record RankEnd(int rank, int exitCode, Instant reaped, Optional<ErrorFile> error) {

  boolean failed() {
    return exitCode != ExitCodes.OK && !hasStopped();
  }

  /** Tells whether the rank saved its state and ended because it was asked to. */
  boolean hasStopped() {
    return exitCode == ExitCodes.STOPPED;
  }

  /** Tells whether this end only follows from another rank's or a link's failure. */
  boolean isConsequence() {
    return exitCode == ExitCodes.PEER_FAILED;
  }

  /** Tells whether the rank may have failed because it waited for another in vain. */
  boolean mayHaveWaited() {
    return isConsequence() || exitCode == ExitCodes.RENDEZVOUS_FAILED;
  }

  /** Returns when the rank failed, as exactly as is known. */
  Instant time() {
    return error.map(ErrorFile::time).orElse(reaped);
  }

  /**
   * Tells whether the rank failed by itself rather than because the launcher stopped it.
   *
   * <p>A rank may fail before the stop but end after it: it had noted an error by then, or a signal
   * that the launcher never sends has ended it.
   */
  boolean failedBefore(Instant stop) {
    return failed() && (!time().isAfter(stop) || diedOfForeignSignal());
  }

  private boolean diedOfForeignSignal() {
    return ExitCodes.isSignal(exitCode)
        && exitCode != ExitCodes.SIGNAL + Signals.TERM
        && exitCode != ExitCodes.SIGNAL + Signals.KILL;
  }

  /** Returns the cause in one sentence. */
  String cause() {
    return error.map(ErrorFile::cause).orElseGet(() -> Signals.cause(exitCode));
  }
}
