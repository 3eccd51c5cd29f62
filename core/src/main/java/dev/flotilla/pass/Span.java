package dev.flotilla.pass;

/**
 * Parts that go forward together, between two places where backward pauses.
 *
 * @param from number of the first part
 * @param to number after the last part
 * @param isRecomputed whether only its input is kept, and it runs again in backward
 */
public record Span(int from, int to, boolean isRecomputed) {

  /** Checks the order. */
  public Span {
    if (from < 0 || to <= from) {
      throw new IllegalArgumentException("no parts from %d to %d".formatted(from, to));
    }
  }

  /** Returns a span that runs once. */
  public static Span kept(int from, int to) {
    return new Span(from, to, false);
  }

  /** Returns a span that runs again in backward. */
  public static Span recomputed(int from, int to) {
    return new Span(from, to, true);
  }
}
