package dev.flotilla.board.live;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Tells what runs are doing, by who holds their folders and by when they last wrote.
 *
 * @param locks what processes of this host hold
 */
record RunStates(FolderLocks locks) {

  /** A launcher that starts its ranks again lets go of nothing, but file systems may lag. */
  private static final Duration GRACE = Duration.ofSeconds(15);

  private static final Duration QUIET = Duration.ofMinutes(5);

  /** Locks of other hosts are not listed here, so there nobody can say that a run has died. */
  private static final Pattern SHARED =
      Pattern.compile("(nfs|cifs|smb|fuse|lustre|ceph|gpfs|9p|afs|beegfs).*");

  /**
   * @param quiet how long ago the run last wrote
   */
  RunState of(Path folder, boolean isFinished, Duration quiet) {
    if (isFinished) {
      return RunState.FINISHED;
    }
    boolean isQuiet = quiet.compareTo(QUIET) > 0;
    var isHeld = isShared(folder) ? Optional.<Boolean>empty() : locks.isHeld(folder);
    if (isHeld.orElse(true)) {
      return isQuiet ? RunState.STALE : RunState.RUNNING;
    }
    return quiet.compareTo(GRACE) > 0 ? RunState.FAILED : RunState.RUNNING;
  }

  private static boolean isShared(Path folder) {
    try {
      return SHARED.matcher(Files.getFileStore(folder).type()).matches();
    } catch (IOException unknown) {
      return false;
    }
  }
}
