package dev.flotilla.collective;

/** How values of several ranks become one. */
public enum Reduction {
  /** The sum over ranks. */
  SUM,
  /** The largest value of all ranks. */
  MAX
}
