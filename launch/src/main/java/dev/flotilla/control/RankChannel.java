package dev.flotilla.control;

import java.time.Duration;
import java.util.Optional;

/** What stands behind a rank's link. */
interface RankChannel {

  /** Passes on that this process was asked to stop. */
  void stopAsked(String signal);

  /** Tells whether somebody is at the other end. */
  boolean isConnected();

  /** Returns what is known about the rank that failed first. */
  Optional<String> culprit(Duration longest);
}
