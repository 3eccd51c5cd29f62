package dev.flotilla.checkpoint;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * How far a run has come; the name of a checkpoint says it.
 *
 * @param updates updates made
 * @param microSteps micro-steps made, those of a half-filled window included
 */
public record Position(long updates, long microSteps) implements Comparable<Position> {

  private static final Pattern NAME = Pattern.compile("update-([0-9]{10})\\.step-([0-9]{10})");
  private static final Comparator<Position> ORDER =
      Comparator.comparingLong(Position::microSteps).thenComparingLong(Position::updates);

  /** Checks that no number is negative. */
  public Position {
    if (updates < 0 || microSteps < 0) {
      throw new IllegalArgumentException("a position must not be negative: " + updates);
    }
  }

  /** Returns the name of the checkpoint's folder. */
  public String folderName() {
    return "update-%010d.step-%010d".formatted(updates, microSteps);
  }

  /** Reads the name of a checkpoint; nothing for other names. */
  static Optional<Position> ofFolder(String name) {
    var matcher = NAME.matcher(name);
    return matcher.matches()
        ? Optional.of(
            new Position(Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2))))
        : Optional.empty();
  }

  @Override
  public int compareTo(Position other) {
    return ORDER.compare(this, other);
  }
}
