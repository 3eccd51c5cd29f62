package dev.flotilla.train;

import dev.flotilla.checkpoint.PublishedWeights;
import dev.flotilla.collective.Collective;
import java.time.Duration;

/** How long ranks wait for one that reads what training starts from: that is slow, not stuck. */
final class Preparation {

  /** Weights may have to be converted first; the rest is for reading some gigabytes. */
  private static final Duration LONGEST =
      PublishedWeights.LONGEST_CONVERSION.plus(Duration.ofMinutes(10));

  private Preparation() {}

  /** Returns the same group, whose operations wait for that long. */
  static Collective patient(Collective group) {
    return group.timeout().compareTo(LONGEST) < 0 ? group.withTimeout(LONGEST) : group;
  }
}
