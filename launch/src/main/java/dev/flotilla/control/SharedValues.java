package dev.flotilla.control;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Values that the ranks of a job of several hosts leave for each other.
 *
 * <p>The launchers carry them from rank to rank, authenticated as everything on the control channel
 * is; the first host's keeps them, and forgets them when the next attempt begins. Every rank has a
 * copy of them, which follows soon.
 */
public interface SharedValues {

  /** Longest value, in bytes. */
  int LONGEST_VALUE = 48 * 1024;

  /** Returns the number of this process's next meeting with others; all ranks count alike. */
  int nextMeeting();

  /**
   * Sets a value, in place of an earlier one; returns once the first host's launcher has it.
   *
   * @throws IOException if that takes longer, or the launcher is lost
   */
  void put(String key, byte[] value, Duration longest) throws IOException;

  /**
   * Waits until every value has come that was kept before this call.
   *
   * @throws IOException if that takes longer, or the launcher is lost
   */
  void sync(Duration longest) throws IOException;

  /**
   * Returns a value, if it has come.
   *
   * @throws IOException if none will come any more, as the launcher is lost
   */
  Optional<byte[]> get(String key) throws IOException;

  /**
   * Returns all values whose keys begin so.
   *
   * @throws IOException if none will come any more, as the launcher is lost
   */
  Map<String, byte[]> all(String prefix) throws IOException;
}
