package dev.flotilla.zoo.table;

/** What the label column holds. */
public enum TableTask {
  /** The name of a class. */
  CLASSIFICATION,
  /** A number to guess. */
  REGRESSION
}
