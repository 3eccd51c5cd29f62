package dev.flotilla.verify;

import java.util.ArrayList;
import java.util.List;

/**
 * What a comparison of merged micro-batches with the one large batch has shown.
 *
 * @param isEqual whether all differences in float64 are rounding
 * @param kSteps micro-batches of a full accumulation window
 * @param windows what was compared, one description per window
 * @param updates updates that the merged loop has made
 * @param parameters differences by parameter, in forward order
 * @param causes why they differ; empty if they do not
 * @param notes what else the user should know about the comparison
 */
public record Verification(
    boolean isEqual,
    int kSteps,
    List<String> windows,
    int updates,
    List<Difference> parameters,
    List<Cause> causes,
    List<String> notes) {

  /** The largest relative difference in float64 that counts as rounding. */
  public static final double LIMIT = 1e-10;

  /** Returns this result with one more note. */
  public Verification with(String note) {
    List<String> more = new ArrayList<>(notes);
    more.add(note);
    return new Verification(isEqual, kSteps, windows, updates, parameters, causes, more);
  }

  /**
   * The largest relative differences of one parameter over all windows.
   *
   * @param name the parameter
   * @param gradient64 of its gradient just before the update, in float64, which decides
   * @param gradient32 the same in float32, for information
   * @param weights64 of its values after the update, in float64, which decides
   * @param weights32 the same in float32, for information
   */
  public record Difference(
      String name, double gradient64, double gradient32, double weights64, double weights32) {

    boolean isRounding() {
      return gradient64 <= LIMIT && weights64 <= LIMIT;
    }
  }
}
