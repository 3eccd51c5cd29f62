package dev.flotilla.zoo.table;

/** What becomes of the numbers of a column. */
public enum Scaling {
  /** Mean 0 and standard deviation 1 over the training rows. */
  STANDARDIZE,
  /** From 0 to 1 over the training rows. */
  MIN_MAX,
  /** They stay as they are. */
  NONE
}
