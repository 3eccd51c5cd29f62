package dev.flotilla.control;

/** Hears of the values that the ranks and launchers of a job leave for each other. */
public interface ValueWatcher {

  /**
   * Takes a value; one that was known before may come again.
   *
   * @param attempt which attempt it belongs to
   */
  void take(int attempt, String key, byte[] value);
}
