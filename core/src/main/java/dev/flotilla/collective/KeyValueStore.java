package dev.flotilla.collective;

import java.util.Optional;

/**
 * Where the ranks of a group leave short texts for each other, outside the wire of the collectives.
 *
 * <p>Reading never waits. Use it for what ranks must settle before a collective is safe.
 */
public interface KeyValueStore {

  /** Puts up a text that is not empty; it replaces an earlier one under the same key. */
  void post(String key, String text);

  /** Returns the text under a key, if somebody has put one up. */
  Optional<String> read(String key);

  /**
   * Opens a part of the board for one conversation. The n-th call with a name on one rank meets the
   * n-th call with that name on the others, so that conversations never read each other's
   * leftovers.
   */
  KeyValueStore section(String name);
}
