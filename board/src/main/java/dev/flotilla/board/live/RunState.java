package dev.flotilla.board.live;

import java.util.Locale;

/** What a run is doing, as far as its files tell. */
enum RunState {
  /** A process holds its folder, or has written to it just now. */
  RUNNING,
  /** It has ended well. */
  FINISHED,
  /** It has not ended well, and no process holds its folder any more. */
  FAILED,
  /** A process holds its folder, but has written nothing for long. */
  STALE;

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
