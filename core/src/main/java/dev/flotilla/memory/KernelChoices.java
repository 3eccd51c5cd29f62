package dev.flotilla.memory;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Which of several kernels a device computes with, where short trials have decided; for summaries.
 *
 * <p>Thread-safe.
 */
public final class KernelChoices {

  private static final Map<String, String> MADE = new LinkedHashMap<>();

  private KernelChoices() {}

  /**
   * Notes a choice.
   *
   * @param what what is computed, with its sizes
   * @param choice the kernel, with what was measured
   */
  public static void note(String what, String choice) {
    synchronized (MADE) {
      MADE.put(what, choice);
    }
  }

  /** Returns the choices of this process so far. */
  public static Map<String, String> made() {
    synchronized (MADE) {
      return new LinkedHashMap<>(MADE);
    }
  }
}
