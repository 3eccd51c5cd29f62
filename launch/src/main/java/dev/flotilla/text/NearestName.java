package dev.flotilla.text;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;

/** Finds the known name that a misspelt one was probably meant to be. */
public final class NearestName {

  private static final int LONGEST = 64;

  private NearestName() {}

  /**
   * Returns the known name with the fewest edits (insert, delete, replace, swap of neighbours), or
   * nothing if none is close; of equally close ones the first.
   */
  public static Optional<String> of(String wanted, Collection<String> known) {
    String best = "";
    int fewest = allowedEdits(wanted) + 1;
    for (String name : known) {
      int edits = edits(wanted.toLowerCase(Locale.ROOT), name);
      if (edits < fewest) {
        fewest = edits;
        best = name;
      }
    }
    return best.isEmpty() ? Optional.empty() : Optional.of(best);
  }

  /** Returns "; did you mean 'x'?" or the empty text. */
  public static String hint(String wanted, Collection<String> known) {
    return of(wanted, known).map(name -> "; did you mean '" + name + "'?").orElse("");
  }

  private static int allowedEdits(String wanted) {
    return wanted.length() > LONGEST ? -1 : Math.max(1, wanted.length() / 3);
  }

  private static int edits(String from, String to) {
    if (from.length() > LONGEST) {
      return Integer.MAX_VALUE;
    }
    var cost = new int[from.length() + 1][to.length() + 1];
    for (int i = 0; i <= from.length(); i++) {
      for (int j = 0; j <= to.length(); j++) {
        cost[i][j] = Math.min(i, j) == 0 ? Math.max(i, j) : cheapest(cost, from, to, i, j);
      }
    }
    return cost[from.length()][to.length()];
  }

  private static int cheapest(int[][] cost, String from, String to, int i, int j) {
    boolean same = from.charAt(i - 1) == to.charAt(j - 1);
    int replaced = cost[i - 1][j - 1] + (same ? 0 : 1);
    int shifted = Math.min(cost[i - 1][j], cost[i][j - 1]) + 1;
    int best = Math.min(replaced, shifted);
    boolean swapped =
        Math.min(i, j) > 1
            && from.charAt(i - 1) == to.charAt(j - 2)
            && from.charAt(i - 2) == to.charAt(j - 1);
    return swapped ? Math.min(best, cost[i - 2][j - 2] + 1) : best;
  }
}
