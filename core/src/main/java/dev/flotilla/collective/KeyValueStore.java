package dev.flotilla.collective;

import java.util.Optional;

/**
 * The key-value store of a group: short texts that its ranks leave for each other, outside the
 * collectives.
 *
 * <p>Reading never waits. Use it for what ranks must settle before a collective is safe.
 */
public interface KeyValueStore {

  /** Sets the value of a key, which must not be empty; it replaces an earlier one. */
  void set(String key, String value);

  /** Returns the value of a key, if a rank has set it. */
  Optional<String> get(String key);

  /**
   * Opens keys of their own for one conversation. The n-th call with a name on one rank meets the
   * n-th call with that name on the others, so that conversations never read each other's
   * leftovers.
   */
  KeyValueStore section(String name);
}
