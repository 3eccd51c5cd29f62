package dev.flotilla.zoo.data;

/** What happens to a sequence that is longer than allowed. */
public enum TooLong {
  /** It is named, and nothing is read. */
  ERROR,
  /** Its end is cut off, the last token kept. */
  TRUNCATE
}
