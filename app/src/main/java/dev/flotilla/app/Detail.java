package dev.flotilla.app;

import dev.flotilla.settings.ConfigException;

/** How much a command tells of what it does. */
enum Detail {
  /** Warnings and what went wrong. */
  QUIET,
  /** What most people want to see. */
  USUAL,
  /** Everything that happens. */
  VERBOSE;

  /**
   * Returns what options ask for.
   *
   * @throws ConfigException if they ask for both
   */
  static Detail of(boolean quiet, boolean verbose) {
    if (quiet && verbose) {
      throw new ConfigException("--quiet", "cannot go with --verbose; leave one of them out");
    }
    return quiet ? QUIET : verbose ? VERBOSE : USUAL;
  }
}
