package dev.flotilla.settings;

import java.util.ArrayList;
import java.util.List;

/**
 * Collects what is wrong with the components of a settings record.
 *
 * <pre>{@code
 * Check.that(lr > 0, "lr", "must be greater than 0", lr)
 *     .and(momentum >= 0 && momentum < 1, "momentum", "must be in [0, 1)", momentum)
 *     .orThrow();
 * }</pre>
 */
public final class Check {

  private final List<Problem> problems = new ArrayList<>();

  private Check() {}

  /** Starts with one requirement; the message reads "key: must be ..., but was actual". */
  public static Check that(boolean holds, String key, String requirement, Object actual) {
    return new Check().and(holds, key, requirement, actual);
  }

  /** Adds a requirement. */
  public Check and(boolean holds, String key, String requirement, Object actual) {
    if (!holds) {
      problems.add(new Problem("", key, requirement + ", but was " + actual, ""));
    }
    return this;
  }

  /**
   * Ends the check.
   *
   * @throws ConfigException with every requirement that does not hold
   */
  public void orThrow() {
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
  }
}
