package dev.flotilla.zoo.table;

/** What happens where a cell has no value. */
public enum Missing {
  /** The run does not start, and the cell is named. */
  STOP,
  /**
   * The mean of the training rows stands in, or their most frequent category; cells are counted.
   */
  MEAN,
  /** The row is left out; rows are counted. */
  DROP_ROW
}
