package dev.flotilla.control;

import java.time.Duration;
import java.util.Optional;

/** What stands behind a rank's link. */
interface RankChannel {

  /** Passes on that this process was asked to stop. */
  void stopAsked(String signal);

  /** Tells whether somebody is at the other end. */
  boolean isConnected();

  /** Returns the values that ranks leave for each other, where a launcher carries them. */
  default Optional<SharedValues> values() {
    return Optional.empty();
  }

  /** Returns the key by which the ranks of this job know each other. */
  default Optional<JobKey> pairKey() {
    return Optional.empty();
  }

  /** Returns what is known about the rank that failed first. */
  Optional<String> culprit(Duration longest);
}
