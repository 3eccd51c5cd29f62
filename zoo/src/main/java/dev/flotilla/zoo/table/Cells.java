package dev.flotilla.zoo.table;

/** Takes the cells of a row, one call for each column, by number from 0. */
public interface Cells {

  /** Takes a cell that is text; the characters are valid during the call alone. */
  void text(int column, char[] chars, int from, int length);

  /** Takes a cell that is a number. */
  void number(int column, double value);

  /** Takes a cell that has no value. */
  void missing(int column);
}
