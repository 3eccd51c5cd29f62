package dev.flotilla.launch;

import java.util.Comparator;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Finds what somebody may have meant. */
final class NearestName {

  private NearestName() {}

  /** Returns the name with the fewest changes, unless it takes more than a third of its letters. */
  static Optional<String> of(String written, Stream<String> known) {
    return known
        .filter(name -> distance(written, name) <= Math.max(2, name.length() / 3))
        .min(Comparator.comparingInt(name -> distance(written, name)));
  }

  private static int distance(String from, String to) {
    int[] row = IntStream.rangeClosed(0, to.length()).toArray();
    for (int i = 1; i <= from.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= to.length(); j++) {
        int replaced = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[to.length()];
  }
}
